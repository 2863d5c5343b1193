// Package viewtest tests the pages of package view in Chromium: how soon they show something, that nothing fails or
// leaves the page, keys, contrast and hostile names.
package viewtest

// What the theme leaves out: the search has a name, and tables that scroll do so with the keyboard.
// It wraps tables once a page is there.
document$.subscribe(() => {
    document.querySelector('.md-search')?.setAttribute('aria-label', 'Search');
    const reach = () => document.querySelectorAll('.md-typeset__scrollwrap').forEach(it => { it.tabIndex = 0; });
    reach();
    new MutationObserver(reach).observe(document.querySelector('.md-content'), {childList: true, subtree: true});
});

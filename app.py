"""The application: one router, one sidebar, one rim where errors become sentences. `attest serve` starts it."""

import streamlit as st

from components import address, cached, errors, frame, scope_picker

frame.draw()
page, pages = frame.navigate()
with errors.shown(whole_page=True):
    address.enter(page.url_path or address.SEARCH)
    with st.sidebar:
        frame.draw_links(pages)
        scope_picker.draw()
    frame.run(page)
cached.warm_up()

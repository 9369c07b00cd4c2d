"""Data: what is loaded and in what state, jobs and their progress, loading more and removing."""

import streamlit as st

from components import cached, frame, jobs, markup, stored, uploads

frame.through_app()

report, writable = cached.status(), cached.writable()
left, right = st.columns([3, 2], gap="large")
with left:
    stored.draw_datasets(report, writable=writable)
    stored.draw_collections(report.collections)
    stored.draw_indexes(cached.catalog())
    stored.draw_stores(report)
with right:
    if writable:
        uploads.draw()
    else:
        text = "This server may only read: nothing can be loaded, removed or stopped here."
        st.html(markup.tag("p", text, css="at-note"))
    jobs.draw(writable=writable, loaded=uploads.discard)

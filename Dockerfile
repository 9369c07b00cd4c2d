# The application alone; compose.yaml brings it up together with its stores.
FROM python:3.12-slim
WORKDIR /srv/attest
RUN useradd --create-home attest && chown attest .
COPY --chown=attest . .
RUN pip install --no-cache-dir --constraint constraints.txt --editable .
USER attest
EXPOSE 8501
CMD ["attest", "serve", "--host", "0.0.0.0"]

# The verification service.
#
#   docker build -t proof-r1 .
#   docker run -p 8765:8765 -v "$PWD/token:/run/secrets/token:ro" proof-r1
#
# The file `token` holds at least 16 characters; requests send them as `Authorization: Bearer …`.
FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY proof_r1_formal proof_r1_formal
COPY grammars grammars
COPY theories theories
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
COPY constraints.txt /tmp/
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir -c /tmp/constraints.txt "$(echo /wheels/*.whl)[serve,kernel]" \
    && rm -r /wheels /tmp/constraints.txt \
    && useradd --create-home service
USER service
EXPOSE 8765
ENTRYPOINT ["proof-r1", "serve", "--host", "0.0.0.0", "--token-file", "/run/secrets/token"]

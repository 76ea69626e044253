# The image of workers on Dataflow, Flink or Spark: Beam's, with the package, spaCy and its model in
# the locked versions. Beam's version must be that of the machine that starts the job.
#
#     docker build --tag REGISTRY/wikisum-worker . && docker push REGISTRY/wikisum-worker
#     wikisum build ... -- ... --sdk_container_image=REGISTRY/wikisum-worker
#
# Python and Beam stand in its name; the entry point is Beam's.
FROM apache/beam_python3.11_sdk:2.77.0
WORKDIR /opt/wikisum
COPY . .
RUN pip install --no-cache-dir --constraint constraints.txt '.[build,aws]'
ENV OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

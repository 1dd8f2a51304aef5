# SillyTavern with the extension of this repository, for the optional service of docker-compose.yaml.
FROM node:22-slim
WORKDIR /opt/sillytavern
RUN npm install --no-audit --no-fund --omit=dev sillytavern@1.19.0 && npm cache clean --force
COPY integrations/sillytavern /opt/extension
COPY deploy/sillytavern.sh /usr/local/bin/sillytavern
RUN install --directory --owner node --group node /data
USER node
VOLUME /data
EXPOSE 8000
CMD ["sh", "/usr/local/bin/sillytavern"]

import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import express, { type Application, type Response } from 'express';
import { ERROR_CATALOGUE } from '@gatehouse/contracts';
import { PAGE_POLICY } from '../http/security-headers.js';
import { REFERENCE_STYLE, startScript } from './reference-page.js';

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** Serves the browsable page at /docs and the error catalogue at /docs/errors, with every file from this machine. */
export function serveDocsPage(application: Application, title: string, documentPath: string): void {
  const html = docsPage(title);
  const script = startScript(documentPath);
  const errors = errorsPage();
  application.get('/docs', (_request, response) => sendPage(response, html));
  application.get('/docs/errors', (_request, response) => sendPage(response, errors));
  application.get('/docs/start.js', (_request, response) => {
    response.type('text/javascript').send(script);
  });
  application.get('/docs/reference.css', (_request, response) => {
    response.type('text/css').send(REFERENCE_STYLE);
  });
  for (const name of ASSETS) application.get(`/docs/${name}`, sendAsset(name));
}

function sendPage(response: Response, html: string): void {
  response.setHeader('Content-Security-Policy', PAGE_POLICY);
  response.type('html').send(html);
}

/** The files are looked up on the first request, through the package that contains them. */
function sendAsset(name: string): express.RequestHandler {
  return (_request, response, next) => {
    response.setHeader('Cache-Control', 'public, max-age=86400');
    response.sendFile(name, { root: assetFolder() }, (error) => {
      if (error !== undefined && error !== null && !response.headersSent) next(error);
    });
  };
}

function assetFolder(): string {
  const swagger = createRequire(import.meta.url).resolve('@nestjs/swagger');
  return dirname(createRequire(swagger).resolve('swagger-ui-dist/package.json'));
}

function docsPage(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/reference.css">
</head>
<body>
<header class="reference-head"><a href="/">${escapeHtml(title)}</a><nav><a href="/docs/errors">Error codes</a> <a href="/help/">Documentation</a></nav></header>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;
}

function errorsPage(): string {
  const rows = Object.entries(ERROR_CATALOGUE).map(
    ([code, { status, title }]) =>
      `<tr id="${code.toLowerCase()}"><td><code>${code}</code></td><td>${status}</td><td>${escapeHtml(title)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Error codes</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/reference.css">
</head>
<body>
<header class="reference-head"><a href="/docs">API reference</a></header>
<main class="reference-text"><h1>Error codes</h1>
<table><thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody></table></main></body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

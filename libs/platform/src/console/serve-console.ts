import { basename, join } from 'node:path';
import type { Application } from 'express';
import type { JsonLogger } from '../logging/json-logger.js';
import { readAssets, readConsoleFile } from './console-files.js';
import { sendFile } from './send-file.js';

/** The page of a service's console, built by Vite. */
export interface ConsoleOptions {
  /** Contains the pages and their `assets`. The documentation is in `help` beside this folder. */
  readonly folder: string;
  /**
   * For example proxy.html, to be served at `/`. Without it only the files are served, for pages that the service
   * writes.
   */
  readonly page?: string;
  /** Files that people download from the console's address by name, such as a program to run elsewhere. */
  readonly downloads?: readonly string[];
}

/** Scripts, styles and requests only of this service; no text can become a script. */
export const CONSOLE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const FOREVER = 'public, max-age=31536000, immutable';

/**
 * Serves a console at `/` and its files at `/assets/`. Only names that existed at the start are known, so that no
 * address can lead to another file. Without a built console nothing is served, and one log line reports it.
 */
export function serveConsole(application: Application, options: ConsoleOptions, logger: JsonLogger): void {
  const { folder, page, downloads = [] } = options;
  for (const path of downloads) serveDownload(application, path, logger);
  const assets = readAssets(folder);
  const html = page === undefined ? null : readConsoleFile(join(folder, page));
  if (assets === null || (page !== undefined && html === null)) {
    logger.log(
      page === undefined ? 'the assets of pages were not built' : 'the console was not built: / answers 404',
      { folder },
      'Console',
    );
    return;
  }
  if (html !== null) {
    application.get('/', (request, response) => {
      response.setHeader('Content-Security-Policy', CONSOLE_POLICY);
      sendFile(request, response, html, 'no-cache');
    });
  }
  application.get('/assets/:name', (request, response, next) => {
    const file = assets.get(request.params.name);
    // Names contain a hash of the content, so the content of a name never changes.
    if (file === undefined) next();
    else sendFile(request, response, file, FOREVER);
  });
}

/** Available to everyone who can reach the console, because these files contain no secret. */
function serveDownload(application: Application, path: string, logger: JsonLogger): void {
  const name = basename(path);
  const file = readConsoleFile(path);
  if (file === null) {
    logger.log(`${name} was not built: it cannot be fetched`, { path }, 'Console');
    return;
  }
  application.get(`/${name}`, (request, response) => {
    response.setHeader('Content-Disposition', `attachment; filename="${name}"`);
    sendFile(request, response, file, 'no-cache');
  });
}

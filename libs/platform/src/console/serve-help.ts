import { readdirSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import type { Application } from 'express';
import { readerLanguage } from '../reader/reader-choice.js';
import type { JsonLogger } from '../logging/json-logger.js';
import { readConsoleFile, type ConsoleFile } from './console-files.js';
import { sendFile } from './send-file.js';
import { CONSOLE_POLICY } from './serve-console.js';

/**
 * Serves the documentation at `/help/`, as rendered by `npm run docs`. Only names that existed at the start are known;
 * a file is read on the first request. Without built documentation one log line reports it.
 *
 * @param folder contains index.html, and `zh-CN/` with the Chinese pages
 */
export function serveHelp(application: Application, folder: string, logger: JsonLogger): void {
  const names = namesIn(folder);
  if (!names.has('index.html')) {
    logger.log('the documentation was not built: /help/ answers 404', { folder }, 'Console');
    return;
  }
  const files = new Map<string, ConsoleFile | null>();
  application.get('/help', (request, response, next) => {
    // Addresses in the pages are relative: without the last slash they would be wrong.
    if (!request.path.endsWith('/')) response.redirect(308, 'help/');
    else next();
  });
  application.get(['/help/', '/help/*name'], (request, response, next) => {
    const name = fileName(request.params['name']);
    if (name === 'index.html') {
      response.vary('Accept-Language').vary('Cookie');
      if (readerLanguage(request.headers) === 'zh-CN' && request.path === '/help/')
        return response.redirect(302, 'zh-CN/');
    }
    if (names.has(`${name}/index.html`)) return response.redirect(308, `${basename(name)}/`);
    if (!names.has(name)) return next();
    if (!files.has(name)) files.set(name, readConsoleFile(join(folder, name)));
    const file = files.get(name);
    if (!file) return next();
    response.setHeader('Content-Security-Policy', CONSOLE_POLICY);
    sendFile(request, response, file, 'no-cache');
  });
}

function namesIn(folder: string): ReadonlySet<string> {
  try {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    return new Set(files.map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Set();
    throw error;
  }
}

/** The page of a folder is its index. */
function fileName(segments: string | readonly string[] | undefined): string {
  const name = [segments ?? []].flat().join('/');
  return name === '' || name.endsWith('/') ? `${name}index.html` : name;
}

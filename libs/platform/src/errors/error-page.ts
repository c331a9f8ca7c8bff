import { createHash } from 'node:crypto';
import { createTranslator, type Language, type Translation } from '@gatehouse/i18n';
import type { Request, Response } from 'express';
import { readerLanguage, readerTheme } from '../reader/reader-choice.js';
import type { AppError } from './app-error.js';

const english = {
  notFound: 'Page not found',
  refused: 'This is not possible',
  failed: 'Something went wrong',
  home: 'Go to the home page',
} as const;

const chinese: Translation<typeof english> = {
  notFound: '页面不存在',
  refused: '无法完成此操作',
  failed: '出错了',
  home: '返回首页',
};

const TEXTS: Readonly<Record<Language, Translation<typeof english>>> = { en: english, 'zh-CN': chinese };

/** The sign of the consoles (`icon.svg`). It is in the page, as its style is: the page may come when no file can be served. */
const ICON = `<svg width="30" height="30" viewBox="0 0 32 32" aria-hidden="true">
<rect width="32" height="32" rx="7" fill="#2563c9"/>
<path d="M8 25V14a8 8 0 0 1 16 0v11" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"/>
<path d="M16 12v13M12 17v8M20 17v8" stroke="#fff" stroke-width="2" stroke-linecap="round"/>
</svg>`;

/** The colours of the consoles. */
const STYLE = `:root{color-scheme:light dark}
:root[data-theme=light]{color-scheme:light}
:root[data-theme=dark]{color-scheme:dark}
body{margin:0;padding:15vh 20px 0;background:light-dark(#f4f6f9,#10151d);color:light-dark(#17202e,#e5eaf2);font:16px/1.5 system-ui,sans-serif}
main{max-width:420px;margin:auto}
.brand{display:flex;align-items:center;gap:10px;margin:0 0 24px;color:inherit;font-size:15px;font-weight:700;text-decoration:none}
h1{margin:0 0 4px;font-size:26px}
p{margin:0 0 12px;color:light-dark(#566275,#9eabbd)}
p a{color:light-dark(#1f5cc0,#7fb0ff)}`;
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A browser that opens an address: a program names no type, or JSON. The API answers everyone in its own format. */
export function isPageView(request: Request): boolean {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return isRead && !request.path.startsWith('/api/') && request.accepts(['json', 'html']) === 'html';
}

/** Describes an error on a page, in the reader's language and theme. It repeats no part of the request. */
export function sendErrorPage(request: Request, response: Response, error: AppError): void {
  const language = readerLanguage(request.headers);
  const words = createTranslator<typeof english>(language, TEXTS[language]);
  const title = words.text(error.status === 404 ? 'notFound' : error.status < 500 ? 'refused' : 'failed');
  response
    .status(error.status)
    .setHeader('Content-Type', 'text/html; charset=utf-8')
    .setHeader('Content-Language', language)
    .setHeader('Cache-Control', 'no-store')
    .setHeader('Content-Security-Policy', POLICY)
    .end(
      request.method === 'HEAD'
        ? undefined
        : `<!doctype html>
<html lang="${language}" data-theme="${readerTheme(request.headers)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Gatehouse</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<a class="brand" href="/">${ICON}Gatehouse</a>
<h1>${title}</h1>
<p>${error.status}</p>
<p><a href="/">${words.text('home')}</a></p>
</main>
</body>
</html>
`,
    );
}

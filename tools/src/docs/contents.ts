import type { Language } from '@gatehouse/i18n';

/** A heading of the navigation, and the pages below it: files relative to the root of the repository. */
export interface Chapter {
  readonly title: Readonly<Record<Language, string>>;
  readonly pages: readonly string[];
}

/** What the navigation lists, in reading order. Decisions and benchmarks have pages as well; their lists link to them. */
export const CHAPTERS: readonly Chapter[] = [
  {
    title: { en: 'Getting started', 'zh-CN': '入门' },
    pages: [
      'README.md',
      'docs/consoles.md',
      'docs/first-steps.md',
      'docs/publications.md',
      'docs/examples/README.md',
      'docs/sign-in.md',
      'docs/clients.md',
      'docs/test-mode.md',
      'docs/webhooks.md',
    ],
  },
  {
    title: { en: 'Administration', 'zh-CN': '运维' },
    pages: [
      'docs/operations.md',
      'docs/proxy-users.md',
      'docs/metrics.md',
      'docs/traces.md',
      'docs/runbook.md',
      'docs/scaling.md',
      'docs/security.md',
      'docs/reliability.md',
      'docs/limits.md',
      'docs/errors.md',
    ],
  },
  {
    title: { en: 'Tunnels', 'zh-CN': '隧道' },
    pages: [
      'docs/tunnel-agent.md',
      'docs/tunnel-ports.md',
      'docs/tunnel-hosts.md',
      'docs/tunnel-verification.md',
      'docs/tunnel-events.md',
      'docs/tunnel-scenarios.md',
      'docs/tunnel-rules.md',
      'docs/tunnel-moving.md',
    ],
  },
  {
    title: { en: 'Development', 'zh-CN': '开发' },
    pages: [
      'CONTRIBUTING.md',
      'docs/architecture.md',
      'docs/glossary.md',
      'docs/tunnel-protocol.md',
      'docs/standards.md',
      'docs/benchmarks.md',
      'docs/decisions/README.md',
      'docs/journeys.md',
      'docs/out-of-scope.md',
      'CHANGELOG.md',
    ],
  },
];

/** The Chinese page beside an English one, where there is one: `README.zh-CN.md`, `docs/zh-CN/first-steps.md`. */
export function translationOf(page: string): string {
  return page.startsWith('docs/') ? page.replace('docs/', 'docs/zh-CN/') : page.replace(/\.md$/, '.zh-CN.md');
}

/** Whether a page is one of the Chinese ones. */
export function languageOf(page: string): Language {
  return page.startsWith('docs/zh-CN/') || page.endsWith('.zh-CN.md') ? 'zh-CN' : 'en';
}

/** The address of a page below `/help/`: `docs/zh-CN/first-steps.md` is `zh-CN/first-steps.html`. */
export function addressOf(page: string): string {
  const folder = languageOf(page) === 'zh-CN' ? 'zh-CN/' : '';
  const name = page
    .replace('.zh-CN.md', '.md')
    .replace(/^docs\/(?:zh-CN\/)?/, '')
    .replace(/README\.md$/, 'index.md')
    .replace(/\.md$/, '.html');
  return folder + name.replace(/^[A-Z]+\./, (upper) => upper.toLowerCase());
}

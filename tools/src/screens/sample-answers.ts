import type { Page, Route } from 'playwright-core';

const SECRET = 'EXAMPLE-of-a-secret-that-is-shown-once-0123456789';
const COMMAND = `node gatehouse-agent.mjs --server tunnels.example:8024 --key ${SECRET}`;
const CODES = Array.from({ length: 10 }, (_, index) => `exam-ple${index}`);
const TOTP = 'otpauth://totp/Gatehouse:admin?secret=JBSWY3DPEHPK3PXP&issuer=Gatehouse';

/**
 * What a page gets instead of the service's answer, by the end of the path. `first`: with the first row of the list of that
 * path, as if it were new.
 */
const ANSWERS: readonly { path: RegExp; first?: boolean; fields: object }[] = [
  { path: /\/clients$/, first: true, fields: { key: SECRET, command: COMMAND } },
  { path: /\/clients\/\d+\/rotate-key$/, fields: { key: SECRET, command: COMMAND, grace_until: null } },
  { path: /\/tunnels$/, first: true, fields: { visitor_key: SECRET } },
  { path: /\/tunnels\/\d+\/rotate-visitor-key$/, first: true, fields: { visitor_key: SECRET } },
  { path: /\/webhooks$/, first: true, fields: { secret: SECRET } },
  { path: /\/webhooks\/\d+\/rotate-secret$/, fields: { secret: SECRET } },
  { path: /\/api-keys$/, first: true, fields: { key: SECRET } },
  { path: /\/domains$/, first: true, fields: {} },
  { path: /\/auth\/totp$/, fields: { secret: 'JBSWY3DPEHPK3PXP', otpauth_uri: TOTP } },
  { path: /\/auth\/totp\/(?:confirm|recovery-codes)$/, fields: { recovery_codes: CODES } },
];

/** Questions that are asked by POST and change nothing. */
const QUESTIONS = /\/(?:check|rules\/test|ip-rules\/check)$/;

/**
 * From now on the pages change nothing: the service gets no writing request. Those whose answer is a page of its own, such
 * as a new key, are answered with a sample, all others are refused.
 */
export async function answerWrites(page: Page): Promise<void> {
  await page.route('**/api/**', async (route) => {
    const method = route.request().method();
    const { pathname } = new URL(route.request().url());
    if (method === 'GET' || method === 'HEAD' || (method === 'POST' && QUESTIONS.test(pathname))) {
      await route.continue();
      return;
    }
    const sample = method === 'POST' ? ANSWERS.find(({ path }) => path.test(pathname)) : undefined;
    if (sample === undefined) await route.fulfill({ status: 409, json: REFUSAL });
    else await route.fulfill({ status: 201, json: await sampleOf(route, pathname, sample) });
  });
}

const REFUSAL = { code: 'CONFLICT', error: 'Nothing is changed here.', detail: 'Nothing is changed here.' };

async function sampleOf(route: Route, pathname: string, sample: (typeof ANSWERS)[number]): Promise<object> {
  if (sample.first !== true) return sample.fields;
  const list = new URL(pathname.replace(/\/\d+\/[\w-]+$/, ''), route.request().url());
  const { authorization = '' } = route.request().headers();
  const answer = await fetch(list, { headers: { authorization } });
  const body = (await answer.json()) as { items?: object[] } | object[];
  const [row] = Array.isArray(body) ? body : (body.items ?? []);
  return { id: 0, name: 'Example', ...row, ...sample.fields };
}

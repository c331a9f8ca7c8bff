import { describe, expect, it } from 'vitest';
import { formOf as policyFormOf } from '../policies/policy-form.js';
import { Publication, PublishStepError, stepsOf, type PublishStep } from './publication.js';
import {
  ACCESS_OF,
  httpsOf,
  PUBLISH_KINDS,
  serviceFormOf,
  targetOf,
  toPlan,
  type PublishForms,
} from './publish-form.js';

const FORMS: PublishForms = {
  service: { ...serviceFormOf({ client_id: '3' }, true), host: 'app.example.org', target_addr: '3000' },
  certificate: { certificate: '', key: '' },
  access: 'everyone',
  policy: policyFormOf(null),
  restriction: { action: 'none', countries: [], pattern: '' },
  limits: { rate_limit: '', max_conn: '', expire_at: '' },
};

const GUARDED: PublishForms = {
  ...FORMS,
  access: 'password',
  policy: { ...FORMS.policy, password: 'open sesame' },
  restriction: { action: 'allow', countries: ['DE'], pattern: '198.51.100.0/24\n\n2001:db8::1' },
  limits: { rate_limit: '512', max_conn: '', expire_at: '' },
};

/** Notes each call; `refuse` fails those that it names. */
class FakeApi {
  readonly calls: [string, unknown?][] = [];
  refuse = '';

  get<T>(path: string): Promise<T> {
    return this.#answer(`GET ${path}`, undefined, { id: 3, rate_limit: 64 } as T);
  }

  post<T>(path: string, body?: unknown): Promise<T> {
    return this.#answer(`POST ${path}`, body, { id: this.calls.length + 10, ...(body as object) } as T);
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.#answer(`PATCH ${path}`, body, {} as T);
  }

  delete<T>(path: string): Promise<T> {
    return this.#answer(`DELETE ${path}`, undefined, undefined as T);
  }

  async #answer<T>(call: string, body: unknown, answer: T): Promise<T> {
    await Promise.resolve();
    if (this.refuse !== '' && `${call} ${JSON.stringify(body)}`.includes(this.refuse)) throw new Error('refused');
    this.calls.push([call, body]);
    return answer;
  }
}

async function failedStep(work: Promise<unknown>): Promise<PublishStep | null> {
  const thrown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  return thrown instanceof PublishStepError ? thrown.step : null;
}

const names = (api: FakeApi): string[] => api.calls.map(([call]) => call);
const ignore = (): void => undefined;

describe('publishing a service', () => {
  it('is one call where nothing protects it', async () => {
    const api = new FakeApi();
    await new Publication(api).run(toPlan(FORMS), ignore);
    expect(api.calls).toEqual([
      [
        'POST /hosts',
        expect.objectContaining({
          client_id: 3,
          host: 'app.example.org',
          target_addr: 'http://127.0.0.1:3000',
          scheme: 'all',
          auto_https: 1,
          status: 1,
        }),
      ],
    ]);
  });

  it('saves what protects the service before it opens it', async () => {
    const api = new FakeApi();
    const steps: PublishStep[] = [];
    await new Publication(api).run(toPlan(GUARDED), (step) => steps.push(step));
    expect(steps).toEqual(['service', 'policy', 'rules', 'limits', 'open']);
    expect(steps).toEqual(stepsOf(toPlan(GUARDED)));
    expect(api.calls[0]).toEqual(['POST /hosts', expect.objectContaining({ status: 0 })]);
    const policy = { resource_type: 'host', resource_id: 10, type: 'password', password: 'open sesame' };
    expect(api.calls[1]).toEqual(['POST /auth-policies', expect.objectContaining(policy)]);
    const rule = { scope: 'host', resource_id: 10, type: 'allow' };
    expect(api.calls.slice(2, 5)).toEqual([
      ['POST /ip-rules', { ...rule, pattern: 'DE', pattern_kind: 'country' }],
      ['POST /ip-rules', { ...rule, pattern: '198.51.100.0/24', pattern_kind: 'cidr' }],
      ['POST /ip-rules', { ...rule, pattern: '2001:db8::1', pattern_kind: 'exact' }],
    ]);
    expect(api.calls.at(-1)).toEqual(['PATCH /hosts/10', { status: 1 }]);
  });

  it('goes on with the step that failed, and deletes rules that are no longer wanted', async () => {
    const api = new FakeApi();
    const publication = new Publication(api);
    api.refuse = '2001:db8';
    expect(await failedStep(publication.run(toPlan(GUARDED), ignore))).toBe('rules');
    expect([publication.has('policy'), publication.has('rules')]).toEqual([true, false]);
    const other = {
      ...GUARDED,
      restriction: { ...GUARDED.restriction, countries: ['FR'], pattern: '198.51.100.0/24' },
    };
    api.calls.length = 0;
    await publication.run(toPlan(other), ignore);
    expect(names(api)).toEqual([
      'DELETE /ip-rules/12',
      'POST /ip-rules',
      'GET /clients/3',
      'PATCH /clients/3',
      'PATCH /hosts/10',
    ]);
  });

  it('opens the service and removes rules where another attempt wants less', async () => {
    const api = new FakeApi();
    const publication = new Publication(api);
    api.refuse = '2001:db8';
    await failedStep(publication.run(toPlan(GUARDED), ignore));
    api.calls.length = 0;
    await publication.run(toPlan({ ...GUARDED, restriction: FORMS.restriction, limits: FORMS.limits }), ignore);
    expect(names(api)).toEqual(['DELETE /ip-rules/12', 'DELETE /ip-rules/13', 'PATCH /hosts/10']);
  });

  it('undoes everything, the limits of the client too', async () => {
    const api = new FakeApi();
    const publication = new Publication(api);
    api.refuse = '"status":1';
    expect(await failedStep(publication.run(toPlan(GUARDED), ignore))).toBe('open');
    api.calls.length = 0;
    await publication.undo();
    expect(api.calls).toEqual([
      ['PATCH /clients/3', { rate_limit: 64 }],
      ['DELETE /hosts/10', undefined],
    ]);
    expect([publication.service, publication.has('service')]).toEqual([null, false]);
  });

  it('takes short targets, and leaves complete ones as they are', () => {
    const target = (kind: (typeof PUBLISH_KINDS)[number], text: string): string =>
      targetOf({ kind, target_addr: text });
    expect(target('web', ' 3000 ')).toBe('http://127.0.0.1:3000');
    expect(target('web', 'nas.lan:80')).toBe('http://nas.lan:80');
    expect(target('web', 'https://nas.lan')).toBe('https://nas.lan');
    expect(target('tcp', '22')).toBe('127.0.0.1:22');
    expect(target('udp', '6000-6010')).toBe('127.0.0.1:6000-6010');
    expect(target('file', '/srv/www')).toBe('file:///srv/www?ro=1');
    expect(target('proxy', '10.0.0.0/8:80')).toBe('10.0.0.0/8:80');
  });

  it('orders certificates only for names that an authority can check, unless the user chooses', () => {
    const https = (host: string): string => httpsOf({ https: null, host });
    expect(['app.example.org', '']).toSatisfy((hosts: string[]) => hosts.every((host) => https(host) === 'automatic'));
    expect(['*.example.org', 'app.localhost', 'nas', '192.0.2.1'].map(https)).toEqual(['none', 'none', 'none', 'none']);
    expect(httpsOf({ https: 'automatic', host: 'nas' })).toBe('automatic');
  });

  it('offers no certificate of an authority where the gateway orders none', () => {
    expect(httpsOf({ ...serviceFormOf({}, false), host: 'app.example.org' })).toBe('none');
  });

  it('makes a tunnel of every other kind, and asks for a login where a proxy would be open', () => {
    const modes = PUBLISH_KINDS.map((kind) => {
      const { service, policy } = toPlan({ ...GUARDED, service: { ...GUARDED.service, kind } });
      return [service.kind, service.body['mode'], policy === null];
    });
    expect(modes).toEqual([
      ['host', undefined, false],
      ['tunnel', 'tcp', false],
      ['tunnel', 'udp', false],
      ['tunnel', 'secret', true],
      ['tunnel', 'file', false],
      ['tunnel', 'mix_proxy', false],
    ]);
    expect(ACCESS_OF.proxy[0]).toBe('basic');
  });
});

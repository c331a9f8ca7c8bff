import { describe, expect, it } from 'vitest';
import { accessChoices, emptyForm, policyBody, ruleBodies, serviceBody, stepsOf } from './publish-form.js';

const web = { ...emptyForm('3'), host: ' app.example.org ', target_addr: ' http://127.0.0.1:3000 ' };

describe('publishing a service', () => {
  it('is one step where everyone may visit', () => {
    expect(stepsOf(web)).toEqual(['create']);
    expect(serviceBody(web)).toEqual({
      client_id: 3,
      target_addr: 'http://127.0.0.1:3000',
      host: 'app.example.org',
      scheme: 'all',
      auto_https: 1,
    });
  });

  it('creates what is protected disabled and enables it last', () => {
    const form = {
      ...web,
      access: 'password' as const,
      password: 'open sesame',
      countries: 'only' as const,
      pattern: ['DE', 'FR'],
      rate_limit: '512',
    };
    expect(stepsOf(form)).toEqual(['create', 'policy', 'countries', 'limits', 'enable']);
    expect(serviceBody(form)).toMatchObject({ status: 0 });
    expect(policyBody(form, 9)).toEqual({
      resource_type: 'host',
      resource_id: 9,
      type: 'password',
      password: 'open sesame',
    });
    expect(ruleBodies(form, 9)).toEqual([
      { scope: 'host', resource_id: 9, type: 'allow', pattern_kind: 'country', pattern: 'DE' },
      { scope: 'host', resource_id: 9, type: 'allow', pattern_kind: 'country', pattern: 'FR' },
    ]);
  });

  it('opens a port, any free one where none is named', () => {
    const form = { ...emptyForm('3', 'tcp'), target_addr: '127.0.0.1:22' };
    expect(serviceBody(form)).toEqual({ client_id: 3, target_addr: '127.0.0.1:22', mode: 'tcp', listen_port: 0 });
  });

  it('sends no sign-in that the kind does not have', () => {
    expect(accessChoices('secret')).toEqual(['open']);
    const form = {
      ...emptyForm('3', 'secret'),
      access: 'password' as const,
      countries: 'only' as const,
      pattern: ['DE'],
    };
    expect(stepsOf(form)).toEqual(['create']);
    expect(serviceBody(form)).not.toHaveProperty('listen_port');
  });
});

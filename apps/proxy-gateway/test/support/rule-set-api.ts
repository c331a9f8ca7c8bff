import { expect } from 'vitest';
import type { AnyJson, Gateway } from './gateway.js';

/** The requests that tests of rule sets use repeatedly. */
export interface RuleSetApi {
  create(body: object): Promise<AnyJson>;
  inline(name: string, entries: string[], more?: object): Promise<AnyJson>;
  refresh(id: number, query?: string): Promise<AnyJson>;
  detail(id: number): Promise<AnyJson>;
  test(url: string): Promise<AnyJson>;
  rules(query?: string): Promise<AnyJson>;
  /** Removes all rule sets and manual rules. */
  clear(): Promise<void>;
}

export function ruleSetApi(gateway: Gateway): RuleSetApi {
  const call: Gateway['call'] = (...request) => gateway.call(...request);
  const create = async (body: object): Promise<AnyJson> => {
    const answer = await call('POST', '/rule-sets', body);
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
    return answer.body;
  };
  return {
    create,
    inline: (name, entries, more = {}) => create({ name, type: 'inline', behavior: 'domain', entries, ...more }),
    refresh: async (id, query = '') => (await call('POST', `/rule-sets/${id}/refresh${query}`)).body,
    detail: async (id) => (await call('GET', `/rule-sets/${id}`)).body,
    test: async (url) => (await call('POST', '/rules/test', { url })).body,
    rules: async (query = '') => (await call('GET', `/rules${query}`)).body.items,
    async clear() {
      for (const { id } of (await call('GET', '/rule-sets')).body.items) {
        await call('DELETE', `/rule-sets/${id}?force=true`);
      }
      await call('POST', '/rules/import?allow_empty=true', { mode: 'replace', rules: [] });
    },
  };
}

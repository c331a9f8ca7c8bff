import { readdirSync, readFileSync } from 'node:fs';
import type { ProfileReport } from '@gatehouse/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startGateway } from './support/gateway.js';
import type { AnyJson, Gateway } from './support/gateway.js';
import { PROFILE_FIGURES, type ProfileFigures } from './support/profile-figures.js';
import { startProvider } from './support/provider.js';
import type { Provider } from './support/provider.js';

/** Profiles in the shapes of well-known makers, in `profiles`. Every name and address in them is made up. */
const FOLDER = new URL('./profiles/', import.meta.url);

/** Why a rule that was taken may have no effect yet: its list is still to come, or the preview said so. */
const WAITING =
  /has no entries yet|there is no list of sites|(?:rule set|target) .* does not exist|is not a group or node here/;

let gateway: Gateway;
let provider: Provider;

beforeAll(async () => {
  [gateway, provider] = await Promise.all([startGateway(), startProvider()]);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

function figures({ sections, notes }: ProfileReport): Pick<ProfileFigures, 'sections' | 'notes'> {
  return {
    sections: Object.fromEntries(
      sections.map(({ section, carried, replaced, left_out: out }) => [section, `${carried}/${replaced}/${out}`]),
    ),
    notes: notes.map(({ section, outcome, reason, count }) => `${section}: ${outcome} ${count} ${reason}`),
  };
}

it('covers more than twenty makers', () => {
  expect(readdirSync(FOLDER).length).toBeGreaterThanOrEqual(20);
});

it.each(readdirSync(FOLDER).toSorted())('%s: is previewed with these figures, and taken as it said', async (file) => {
  const text = readFileSync(new URL(file, FOLDER), 'utf8');
  const name = file.split('.')[0]!;
  const seen = (await gateway.call('POST', '/subscriptions/preview', { text, name })).body;
  const { format, nodes, skipped_nodes: skipped, groups, report } = seen;
  expect({ format, nodes, skipped, ...figures(report) }).toEqual(PROFILE_FIGURES[file]);

  provider.list(text);
  const body = { name, url: provider.url, allow_private: true, bring_rules: true };
  const { id } = (await gateway.call('POST', '/subscriptions', body)).body;
  try {
    await gateway.call('POST', `/subscriptions/${id}/refresh?force=true`);
    const profile = (await gateway.call('GET', '/profiles')).body.items.find(
      (each: AnyJson) => each.subscription_id === id,
    );
    expect(figures(profile.report)).toEqual(figures(report));
    const stored = (await gateway.call('GET', '/outbound')).body.groups.filter(
      (each: AnyJson) => each.subscription_id === id,
    );
    expect(stored.map((each: AnyJson) => each.name)).toEqual(groups.map((each: AnyJson) => each.stored_as));
    await gateway.call('PUT', '/profiles/active', { subscription_id: id });
    const rules: AnyJson[] = (await gateway.call('GET', '/rules?source=subscription')).body.items;
    const unexpected = rules.filter(({ valid, error }) => !valid && !WAITING.test(error));
    expect(unexpected.map(({ raw, error }) => `${raw}: ${error}`)).toEqual([]);
    expect((await gateway.call('POST', '/system/reload')).body.warnings).toEqual([]);
  } finally {
    await gateway.call('DELETE', `/subscriptions/${id}`);
  }
});

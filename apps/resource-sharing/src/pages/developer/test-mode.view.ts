import type { AppError } from '@gatehouse/platform';
import type { Application, CredentialInfo } from '../../applications/application-rows.js';
import { visibleName } from '../../applications/visible-name.js';
import type { MadeUpShare } from '../../test-mode/test-data.js';
import type { Member } from '../../wire/visitor.js';
import { actionForm, copyButton, field, form, submit } from '../parts/forms.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { card, dataTable } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';

export interface TestModeFacts {
  readonly application: Application;
  readonly keys: readonly CredentialInfo[];
  readonly shares: readonly MadeUpShare[];
}

export interface TestModeState {
  /** A key at the only moment when it can be read. */
  readonly shown?: Html;
  readonly problem?: AppError | undefined;
}

/** What test mode is, with the way to its documentation. */
export function testModeIntro({ words }: Member): Content {
  return words.rich<Content, 'testMode.intro'>('testMode.intro', {
    link: (inside) => markup`<a href="/help/${words.language === 'zh-CN' && 'zh-CN/'}test-mode.html">${inside}</a>`,
  });
}

export function testModePage(visitor: Member, facts: TestModeFacts, { shown, problem }: TestModeState): Html {
  const { words } = visitor;
  const place = placeOf(facts.application);
  return markup`${shown}
<p><a href="/developer/${facts.application.clientId}">${visibleName(facts.application.name)}</a></p>
<p>${testModeIntro(visitor)}</p>
${card(words.text('testMode.keys'), [
  keyTable(visitor, facts),
  form(visitor, `${place}/keys`, [submit(words.text('testMode.create'))]),
])}
${card(words.text('testMode.shares'), shareTable(visitor, facts.shares))}
${card(
  words.text('testMode.points'),
  form(visitor, `${place}/points`, [
    field(visitor, {
      name: 'points',
      hint: words.text('testMode.pointsHint'),
      type: 'number',
      problem,
    }),
    submit(words.text('testMode.setPoints')),
  ]),
)}
${card(
  words.text('testMode.empty'),
  form(visitor, `${place}/empty`, [
    markup`<p>${words.text('testMode.emptyText')}</p>`,
    submit(words.text('testMode.empty'), 'danger'),
  ]),
)}`;
}

export function placeOf({ clientId }: Pick<Application, 'clientId'>): string {
  return `/developer/${clientId}/test-mode`;
}

function keyTable(visitor: Member, { application, keys }: TestModeFacts): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = keys.map(({ id, prefix, lastFour, createdAt, lastUsedAt }) => [
    markup`<code>${prefix}&hellip;${lastFour}</code>`,
    time(createdAt),
    time(lastUsedAt),
    actionForm(visitor, `${placeOf(application)}/keys/${id}/end`, words.text('common.revoke'), {
      style: 'danger',
      about: words.text('testMode.keyName', { last: lastFour }),
    }),
  ]);
  const columns = [words.text('testMode.key'), words.text('common.created'), words.text('common.lastUsed'), ''];
  return dataTable(words.text('testMode.keys'), columns, rows, words.text('testMode.noKeys'));
}

function shareTable(visitor: Member, shares: readonly MadeUpShare[]): Html {
  const { words } = visitor;
  const rows = shares.map(({ name, slug, price }) => [
    markup`<code>${name}</code>`,
    price === null ? words.text('testMode.free') : price,
    [markup`<code>${slug}</code> `, copyButton(visitor, slug)],
  ]);
  const columns = [words.text('testMode.outcome'), words.text('testMode.price'), words.text('testMode.slug')];
  return dataTable(words.text('testMode.shares'), columns, rows, words.text('testMode.noShares'));
}

import type { AppError } from '@gatehouse/platform';
import type { Application } from '../../applications/application-rows.js';
import { visibleName } from '../../applications/visible-name.js';
import { WEBHOOK_EVENTS, type WebhookEvent } from '../../webhooks/event-types.js';
import type { Webhook } from '../../webhooks/webhook-rows.js';
import type { Visitor } from '../../wire/visitor.js';
import { checkbox, checkboxes, field, form, submit, type Choice } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { badge, card, dataTable } from '../parts/tables.js';

export interface WebhookFormState {
  readonly shown?: Html;
  readonly values?: FormValues | undefined;
  readonly problem?: AppError | undefined;
}

const STANDARD = 'https://www.standardwebhooks.com/';

/** Words for each event. */
const EVENT_WORDS = {
  'grant.created': 'grantCreated',
  'grant.changed': 'grantChanged',
  'grant.ended': 'grantEnded',
  'application.reviewed': 'applicationReviewed',
  'share.unlocked': 'shareUnlocked',
  'quota.near': 'quotaNear',
} as const satisfies Readonly<Record<WebhookEvent, string>>;

/** The webhooks of one application. */
export function webhooksPage(
  visitor: Visitor,
  { clientId, name }: Application,
  webhooks: readonly Webhook[],
  state: WebhookFormState,
): Html {
  const { words } = visitor;
  const rows = webhooks.map((webhook) => [
    markup`<a href="/developer/${clientId}/webhooks/${webhook.id}">${webhook.name}</a>`,
    markup`<code>${webhook.url}</code>`,
    webhook.eventTypes.length === 0 ? words.text('common.all') : webhook.eventTypes.join(', '),
    webhookBadge(visitor, webhook),
  ]);
  const columns = [
    words.text('common.name'),
    words.text('webhooks.receiver'),
    words.text('fields.event_types'),
    words.text('common.status'),
  ];
  return markup`<p><a href="/developer/${clientId}">${visibleName(name)}</a></p>
<p>${intro(visitor)}</p>
${card(
  words.text('webhooks.caption'),
  dataTable(words.text('webhooks.caption'), columns, rows, words.text('webhooks.none')),
)}
${card(
  words.text('webhooks.createTitle'),
  form(visitor, `/developer/${clientId}/webhooks`, [
    ...webhookFields(visitor, undefined, state),
    submit(words.text('webhooks.create')),
  ]),
)}`;
}

export function intro({ words }: Visitor): Content {
  return words.rich<Content, 'webhooks.intro'>('webhooks.intro', {
    standard: (inside) => markup`<a href="${STANDARD}" rel="noreferrer">${inside}</a>`,
  });
}

export function webhookBadge({ words }: Visitor, { enabled, failingSince }: Webhook): Html {
  if (!enabled) return badge('none', words.text('webhooks.states.off'));
  if (failingSince !== null) return badge('bad', words.text('webhooks.states.failing'));
  return badge('good', words.text('webhooks.states.on'));
}

/** Of a new webhook, or of one that is there. */
export function webhookFields(
  visitor: Visitor,
  webhook: Webhook | undefined,
  { values, problem }: WebhookFormState,
): Content[] {
  const { words } = visitor;
  return [
    field(visitor, {
      name: 'name',
      hint: words.text('webhooks.nameHint'),
      value: values?.text('name') ?? webhook?.name,
      problem,
    }),
    field(visitor, {
      name: 'url',
      label: words.text('webhooks.receiver'),
      type: 'url',
      hint: words.text('webhooks.receiverHint'),
      value: values?.text('url') ?? webhook?.url,
      problem,
    }),
    checkboxes(visitor, {
      name: 'event_types',
      hint: words.text('webhooks.eventsHint'),
      choices: eventChoices(visitor),
      checked: values?.list('event_types') ?? webhook?.eventTypes ?? [],
      problem,
    }),
    checkbox(visitor, {
      name: 'test_events',
      checked: values?.isChecked('test_events') ?? webhook?.testEvents ?? false,
    }),
    webhook !== undefined &&
      checkbox(visitor, { name: 'enabled', checked: values?.isChecked('enabled') ?? webhook.enabled }),
  ];
}

function eventChoices({ words }: Visitor): Choice[] {
  return WEBHOOK_EVENTS.map((value) => ({
    value,
    label: markup`<code>${value}</code>`,
    hint: words.text(`webhookEvents.${EVENT_WORDS[value]}`),
  }));
}

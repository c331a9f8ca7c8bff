import { errorText } from '../../messages/error-text.js';
import type { Delivery, DeliveryDetails, DeliveryState, Webhook } from '../../webhooks/webhook-rows.js';
import type { Visitor } from '../../wire/visitor.js';
import { actionForm, form, submit } from '../parts/forms.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { badge, card, dataTable, facts, type BadgeTone } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import { webhookBadge, webhookFields, type WebhookFormState } from './webhooks.view.js';

const TONES: Readonly<Record<DeliveryState, BadgeTone>> = { pending: 'fair', delivered: 'good', dead: 'bad' };

/** One webhook, what it was sent, and what can be done with it. `next`: the page of older deliveries, if there are any. */
export function webhookPage(
  visitor: Visitor,
  clientId: string,
  { webhook, deliveries, next }: { webhook: Webhook; deliveries: readonly Delivery[]; next: number | undefined },
  state: WebhookFormState,
): Html {
  const { words } = visitor;
  const path = `/developer/${clientId}/webhooks/${webhook.id}`;
  return markup`${state.shown}
<p><a href="/developer/${clientId}/webhooks">${words.text('webhooks.back')}</a></p>
${card(words.text('developer.overview'), overview(visitor, webhook, path))}
${card(words.text('deliveries.title'), [
  markup`<p>${words.text('deliveries.intro')}</p>`,
  deliveryTable(visitor, path, deliveries),
  next !== undefined &&
    markup`<nav class="pager" aria-label="${words.text('common.pages')}"><a class="button" href="${path}?before=${next}" rel="next">${words.text('common.older')}</a></nav>`,
])}
${card(
  words.text('webhooks.settings'),
  form(visitor, path, [...webhookFields(visitor, webhook, state), submit(words.text('common.save'))]),
)}
${card(
  words.text('webhooks.removeTitle'),
  form(visitor, `${path}/delete`, [
    markup`<p>${words.text('webhooks.removeText')}</p>`,
    submit(words.text('webhooks.remove'), 'danger'),
  ]),
)}`;
}

function overview(visitor: Visitor, webhook: Webhook, path: string): Html {
  const { words } = visitor;
  const { url, eventTypes, failingSince } = webhook;
  const pairs: [string, Content][] = [
    [words.text('webhooks.receiver'), markup`<code>${url}</code>`],
    [words.text('fields.event_types'), eventTypes.length === 0 ? words.text('common.all') : eventTypes.join(', ')],
    [words.text('common.status'), webhookBadge(visitor, webhook)],
  ];
  if (failingSince !== null) pairs.push([words.text('webhooks.failingSince'), timesFor(visitor)(failingSince)]);
  const button = (name: 'test' | 'replay' | 'secret', label: string): Html =>
    actionForm(visitor, `${path}/${name}`, label, { size: 'normal' });
  return markup`${facts(pairs)}
<div class="actions">${webhook.enabled && button('test', words.text('webhooks.test'))}
${webhook.enabled && button('replay', words.text('webhooks.replayAll'))}
${button('secret', words.text('webhooks.replaceSecret'))}</div>`;
}

function deliveryTable(visitor: Visitor, path: string, deliveries: readonly Delivery[]): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = deliveries.map((delivery) => [
    markup`<a href="${path}/deliveries/${delivery.id}"><code>${delivery.type}</code></a>`,
    time(delivery.createdAt),
    stateBadge(visitor, delivery.status),
    answerOf(visitor, delivery),
    delivery.attempts,
    replayButton(visitor, path, delivery),
  ]);
  const columns = [
    words.text('deliveries.event'),
    words.text('common.time'),
    words.text('common.status'),
    words.text('deliveries.answer'),
    words.text('deliveries.attempts'),
    '',
  ];
  return dataTable(words.text('deliveries.title'), columns, rows, words.text('deliveries.none'));
}

/** One message, and each request that carried it. */
export function deliveryPage(visitor: Visitor, path: string, delivery: DeliveryDetails): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = delivery.made.map(({ at, durationMs, responseStatus, responseExcerpt, error }) => [
    time(at),
    words.text('deliveries.milliseconds', { ms: durationMs }),
    responseStatus ?? '–',
    error === null ? '–' : errorText(words.language, error),
    responseExcerpt === null ? '–' : markup`<code>${responseExcerpt}</code>`,
  ]);
  const columns = [
    words.text('common.time'),
    words.text('deliveries.took'),
    words.text('deliveries.answer'),
    words.text('deliveries.problem'),
    words.text('deliveries.excerpt'),
  ];
  return markup`<p><a href="${path}">${words.text('webhooks.backToOne')}</a></p>
${card(words.text('developer.overview'), [
  facts([
    [words.text('deliveries.event'), markup`<code>${delivery.type}</code>`],
    ['webhook-id', markup`<code>whd_${delivery.id}</code>`],
    [words.text('common.created'), time(delivery.createdAt)],
    [words.text('common.status'), stateBadge(visitor, delivery.status)],
    [words.text('deliveries.next'), time(delivery.nextAttemptAt)],
  ]),
  markup`<div class="actions">${replayButton(visitor, path, delivery)}</div>`,
])}
${card(words.text('deliveries.message'), markup`<pre tabindex="0" aria-label="${words.text('deliveries.message')}"><code>${indented(delivery.body)}</code></pre>`)}
${card(words.text('deliveries.log'), dataTable(words.text('deliveries.log'), columns, rows, words.text('deliveries.logNone')))}`;
}

function replayButton(visitor: Visitor, path: string, { id, status }: Delivery): Content {
  if (status === 'pending') return undefined;
  const { words } = visitor;
  const about = words.text('deliveries.one', { id });
  return actionForm(visitor, `${path}/deliveries/${id}/replay`, words.text('deliveries.replay'), { about });
}

function stateBadge({ words }: Visitor, status: DeliveryState): Html {
  return badge(TONES[status], words.text(`deliveries.states.${status}`));
}

function answerOf({ words }: Visitor, { responseStatus, error }: Delivery): Content {
  if (responseStatus !== null) return responseStatus;
  return error === null ? '–' : errorText(words.language, error);
}

function indented(body: string): string {
  return JSON.stringify(JSON.parse(body), null, 2);
}

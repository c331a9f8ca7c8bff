import type { RefusedCall } from '../../refused-calls/refused-calls.js';
import type { Visitor } from '../../wire/visitor.js';
import { copyButton } from '../parts/forms.js';
import { Html, markup } from '../parts/markup.js';
import { badge, dataTable } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';

/** The error log of an application. */
export function refusedCallsTable(visitor: Visitor, calls: readonly RefusedCall[]): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = calls.map(({ at, method, endpoint, status, code, requestId, isTest }) => [
    markup`<code>${method} ${endpoint}</code>${isTest && [' ', badge('none', words.text('testMode.inLog'))]}`,
    time(at),
    status,
    markup`<code>${code}</code>`,
    [markup`<code>${requestId}</code> `, copyButton(visitor, requestId)],
  ]);
  const columns = [
    words.text('developer.operation'),
    words.text('errorLog.time'),
    words.text('common.status'),
    words.text('errorLog.code'),
    words.text('errorLog.requestId'),
  ];
  return markup`<p>${words.text('errorLog.intro')}</p>
${dataTable(words.text('errorLog.title'), columns, rows, words.text('errorLog.none'))}`;
}

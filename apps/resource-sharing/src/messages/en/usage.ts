/** Words of what an application called. */
export const usage = {
  usage: {
    ofDay: '{date}: {count, plural, one {# call} other {# calls}}, {failed} failed',
    most: 'Up to {count, plural, one {# call} other {# calls}} a day',
    succeeded: 'Successful',
    table: 'Show as a table',
    share: 'Share',
    quotaLeft: 'Quota left today',
    quota: '{left} <note>of {limit}, resets {time}</note>',
    noLimit: 'no limit',
    calls: 'Which calls',
    real: 'Real calls',
    test: 'Test calls',
    noTestCalls: 'No test calls in the last 30 days.',
  },
  errorLog: {
    title: 'Error log',
    intro: 'The last 50 calls that were answered with an error. Name the request ID when you ask for help.',
    none: 'No call was answered with an error in the last 30 days.',
    time: 'Time',
    code: 'Code',
    requestId: 'Request ID',
  },
} as const;

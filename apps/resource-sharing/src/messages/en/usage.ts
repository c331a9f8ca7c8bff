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
  },
} as const;

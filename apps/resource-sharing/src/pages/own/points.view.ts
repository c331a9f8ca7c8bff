import type { CheckInState } from '../../check-in/check-ins.service.js';
import type { StoryLine, StoryPage } from '../../points/points-story.js';
import type { WeeklyFree } from '../../weekly-free/weekly-free.service.js';
import type { Member, Visitor } from '../../wire/visitor.js';
import { actionForm } from '../parts/forms.js';
import { linkTo, markup, type Content, type Html } from '../parts/markup.js';
import { card, dataTable, tiles } from '../parts/tables.js';
import { premiumText, timesFor } from '../parts/times.js';

interface PointsState {
  readonly balance: number;
  readonly story: StoryPage;
  readonly checkIn: CheckInState;
  readonly weekly: WeeklyFree;
  readonly isFirstPage: boolean;
}

export function pointsPage(visitor: Member, state: PointsState): Html {
  const { words } = visitor;
  const { story, isFirstPage } = state;
  const pages = markup`<nav class="pager" aria-label="${words.text('common.pages')}">
${!isFirstPage && markup`<a class="button" href="/points">${words.text('common.newest')}</a>`}
${story.next !== null && markup`<a class="button" href="/points?before=${story.next}" rel="next">${words.text('common.older')}</a>`}
</nav>`;
  return markup`${pointTiles(visitor, state)}
${isFirstPage && checkInCard(visitor, state.checkIn)}
${card(words.text('points.history'), [storyTable(visitor, story.lines), (!isFirstPage || story.next !== null) && pages])}`;
}

/** The member's points at a glance. */
export function pointTiles(
  visitor: Member,
  { balance, checkIn, weekly }: Omit<PointsState, 'story' | 'isFirstPage'>,
): Html {
  const { words, account } = visitor;
  return tiles([
    [words.text('points.balance'), balance],
    [words.text('points.premium'), premiumText(visitor, account.premiumUntil)],
    [words.text('points.streak'), words.text('points.days', { count: checkIn.streak })],
    weekly.forever && [
      words.text('points.weekly'),
      weekly.unlimited ? words.text('points.unlimited') : weekly.remaining,
    ],
  ]);
}

export function checkInCard(visitor: Visitor, { today }: CheckInState): Html {
  const { words } = visitor;
  if (today !== null) {
    const outcome = today.points > 0 ? 'won' : today.points < 0 ? 'lost' : 'nothing';
    const text = words.text(`points.${outcome}`, { points: Math.abs(today.points) });
    return card(words.text('points.checkIn'), markup`<p>${text}</p>`);
  }
  const button = (label: string, options: { style?: 'primary'; fields?: { is_gambler: string } }): Html =>
    actionForm(visitor, '/points/check-in', label, { ...options, size: 'normal' });
  return card(
    words.text('points.checkIn'),
    markup`<p>${words.text('points.checkInHint')} ${words.text('points.gambleHint')}</p>
<div class="actions">${button(words.text('points.checkInAction'), { style: 'primary' })}
${button(words.text('points.gambleAction'), { fields: { is_gambler: 'true' } })}</div>`,
  );
}

function storyTable(visitor: Visitor, lines: readonly StoryLine[]): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = lines.map((line) => [
    reasonOf(visitor, line),
    line.amount > 0 ? `+${line.amount}` : line.amount,
    line.balanceAfter,
    time(line.at),
  ]);
  const columns = [
    words.text('points.what'),
    words.text('points.change'),
    words.text('points.after'),
    words.text('common.time'),
  ];
  return dataTable(words.text('points.history'), columns, rows, words.text('points.none'));
}

function reasonOf({ words }: Visitor, { kind, amount, share, application, note }: StoryLine): Content {
  const name = share === null ? words.text('points.goneShare') : (share.name ?? share.slug);
  switch (kind) {
    case 'check_in':
      return words.text('points.checkedIn');
    case 'grant':
      return note === null ? words.text('points.granted') : words.text('points.grantedFor', { note });
    case 'share_deletion':
      return words.text('points.deletion', { name });
    case 'unlock': {
      const a = share === null ? (inside: Content) => markup`${inside}` : linkTo(`/shares/${share.slug}`);
      if (amount > 0) return words.rich<Content, 'points.earned'>('points.earned', { name, a });
      return application === null
        ? words.rich<Content, 'points.spent'>('points.spent', { name, a })
        : words.rich<Content, 'points.spentThrough'>('points.spentThrough', { name, application, a });
    }
  }
}

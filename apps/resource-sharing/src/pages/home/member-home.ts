import { Injectable } from '@nestjs/common';
import { CheckIns } from '../../check-in/check-ins.service.js';
import { Notices } from '../../notices/notices.service.js';
import { PointsLedger } from '../../points/points-ledger.js';
import { TitleSearch } from '../../titles/title-search.js';
import { UnlockHistory } from '../../unlocks/unlock-history.js';
import { WeeklyFreeUnlocks } from '../../weekly-free/weekly-free.service.js';
import type { Member } from '../../wire/visitor.js';
import { titleTable } from '../library/titles.view.js';
import { checkInCard, pointTiles } from '../own/points.view.js';
import { unlockTable } from '../own/unlocked.controller.js';
import { searchForm } from '../parts/forms.js';
import { linkTo, markup, type Content, type Html } from '../parts/markup.js';
import { unreadCard } from '../parts/notice-table.js';
import { card } from '../parts/tables.js';

const NEWEST = 6;
const NEWEST_NOTICES = 3;

/** The first page of a member: points, check-in, search and new shares. */
@Injectable()
export class MemberHome {
  constructor(
    private readonly ledger: PointsLedger,
    private readonly checkIns: CheckIns,
    private readonly weeklyFree: WeeklyFreeUnlocks,
    private readonly titles: TitleSearch,
    private readonly unlocks: UnlockHistory,
    private readonly notices: Notices,
  ) {}

  async page(visitor: Member): Promise<Html> {
    const { words, account } = visitor;
    const [balance, checkIn, weekly, { titles }, { unlocks }, { notices }] = await Promise.all([
      this.ledger.balance(account.id),
      this.checkIns.stateOf(account.id),
      this.weeklyFree.of(account.id),
      this.titles.find('', 1, NEWEST),
      this.unlocks.of(account.id, { pageSize: NEWEST }),
      this.notices.list(account.id, { unreadOnly: true, limit: NEWEST_NOTICES }),
    ]);
    const none = words.rich<Content, 'titles.empty'>('titles.empty', { a: linkTo('/shares') });
    return markup`<p>${words.text('home.welcome', { name: account.nickname })}</p>
${notices.length > 0 && unreadCard(visitor, notices)}
${pointTiles(visitor, { balance, checkIn, weekly })}
${searchForm(visitor, '/titles', words.text('titles.search'), '')}
${checkIn.today === null && checkInCard(visitor, checkIn)}
${unlocks.length > 0 && card(words.text('home.lastUnlocked'), unlockTable(visitor, unlocks))}
${card(words.text('titles.newest'), titles.length > 0 ? titleTable(visitor, titles) : markup`<p class="muted">${none}</p>`)}`;
  }
}

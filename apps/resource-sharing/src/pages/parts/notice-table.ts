import { noticeText } from '../../notices/notice-text.js';
import type { Notice } from '../../notices/notices.service.js';
import type { Member } from '../../wire/visitor.js';
import { actionForm } from './forms.js';
import { linkTo, markup, type Content, type Html } from './markup.js';
import { badge, card, dataTable } from './tables.js';
import { timesFor } from './times.js';

/** Notices with what to do about them. */
export function noticeTable(visitor: Member, caption: string, notices: readonly Notice[], none: string): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = notices.map((notice) => [
    noticeCell(visitor, notice),
    time(notice.at),
    notice.readAt === null
      ? actionForm(visitor, `/notices/${notice.id}/read`, words.text('notice.markRead'), {
          about: noticeText(notice, words).text,
        })
      : '',
  ]);
  return dataTable(caption, [words.text('notice.what'), words.text('common.time'), ''], rows, none);
}

/** The newest ones that are not read yet, on other pages. */
export function unreadCard(visitor: Member, notices: readonly Notice[]): Html {
  const { words } = visitor;
  const caption = words.text('notice.unreadCaption');
  return card(
    caption,
    markup`${noticeTable(visitor, caption, notices, '')}
<p class="actions"><a class="button" href="/notices">${words.text('notice.showAll')}</a></p>`,
  );
}

function noticeCell(visitor: Member, notice: Notice): Content {
  const { words } = visitor;
  const { text, path, isSecurity, until } = noticeText(notice, words);
  const isNew = notice.readAt === null;
  const end =
    until !== undefined && words.rich<Html, 'notice.until'>('notice.until', { time: timesFor(visitor)(until) });
  return [
    isNew && [badge(isSecurity ? 'fair' : 'info', words.text('notice.unread')), ' '],
    markup`<a href="${path}">${text}</a>`,
    end !== false && [' ', end],
    isNew &&
      isSecurity &&
      markup`<span class="second">${words.rich<Content, 'notice.wasItYou'>('notice.wasItYou', { a: linkTo('/account') })}</span>`,
  ];
}

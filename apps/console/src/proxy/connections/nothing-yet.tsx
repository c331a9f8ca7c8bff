import type { ComponentChildren } from 'preact';
import { linkTo } from '../../shared/components/rich-text.js';
import { hrefTo } from '../../shared/state/route.js';
import { rich } from '../messages/index.js';

/** In place of connections: that there are none, and how programs come to use the proxy. */
export function NothingYet({ children }: { children: ComponentChildren }) {
  return (
    <>
      {children} {rich('words.connectPrograms', { system: linkTo(hrefTo('system')) })}
    </>
  );
}

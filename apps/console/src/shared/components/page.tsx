import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { BadgeTone } from './badge-tone.js';
import { FlaggedName } from './flag.js';
import { t } from '../messages/index.js';

export type { BadgeTone };

/** A page of the console: its heading takes the focus, so that readers and the keyboard begin there. */
export function Page({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Gatehouse`;
    heading.current?.focus({ preventScroll: true });
  }, [title]);
  return (
    <>
      <header class="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        <div class="actions">{actions}</div>
      </header>
      {children}
    </>
  );
}

export function Card({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="card" aria-label={title}>
      <header class="card-head">
        <h2>{title}</h2>
        <div class="actions">{actions}</div>
      </header>
      {children}
    </section>
  );
}

interface TroubleProps {
  error: string | null;
  retry?: () => void;
  /** Whether nothing can be shown before the first answer; tables say that themselves. */
  waits?: boolean;
}

/** Why nothing or something old is shown. */
export function Trouble({ error, retry, waits = false }: TroubleProps) {
  if (error === null) return waits ? <Waiting /> : null;
  return (
    <p class="trouble" role="alert">
      <span>{error}</span>
      {retry && (
        <button type="button" onClick={retry}>
          {t('common.tryAgain')}
        </button>
      )}
    </p>
  );
}

/** Stands where the first answer will stand, so that no page is blank meanwhile. */
export function Waiting() {
  return (
    <p class="waiting" role="status">
      {t('common.loading')}
    </p>
  );
}

export function Badge({
  tone,
  children,
  title,
}: {
  tone: BadgeTone;
  children: ComponentChildren;
  title?: string | undefined;
}) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {children}
    </span>
  );
}

/** Names and what they are, for details. Flags in texts are drawn. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' ? <FlaggedName name={value} /> : (value ?? '–')}</dd>
        </div>
      ))}
    </dl>
  );
}

export interface Tab {
  id: string;
  label: string;
}

/** Views of one page; each is an address of its own, so that they are links. */
export function Tabs({
  label,
  tabs,
  current,
  hrefOf,
}: {
  label: string;
  tabs: readonly Tab[];
  current: string;
  hrefOf: (id: string) => string;
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ id, label: text }) => (
        <a key={id} href={hrefOf(id)} aria-current={id === current ? 'page' : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

import type { ComponentType } from 'preact';
import type { IconName } from '../components/icons.js';

/** What each page of a console is given. */
export interface PageProps {
  /** What the address says after the page's name. */
  query: Readonly<Record<string, string>>;
}

export interface PageEntry {
  /** In the address; empty for the first page. */
  id: string;
  title: string;
  icon: IconName;
  /** Not in the navigation: other pages lead to it. */
  isUnlisted?: boolean;
  Component: ComponentType<PageProps>;
}

/** Pages in groups, as they stand beside each other. */
export type Navigation = readonly (readonly PageEntry[])[];

/** What the navigation shows. */
export function listedPages(navigation: Navigation): Navigation {
  return navigation
    .map((group) => group.filter(({ isUnlisted }) => isUnlisted !== true))
    .filter((group) => group.length > 0);
}

/** Undefined where the address names no page. */
export function findPage(navigation: Navigation, id: string): PageEntry | undefined {
  return navigation.flat().find((page) => page.id === id);
}

/** What each page of the console is given. */
export interface PageProps {
  /** What the address says after the page's name. */
  query: Readonly<Record<string, string>>;
}

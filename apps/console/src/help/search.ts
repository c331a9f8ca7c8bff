import type MiniSearch from 'minisearch';

const MOST_RESULTS = 8;
const EXCERPT_LENGTH = 120;

/** As the generator of the pages writes them: address, title of the page, heading, text below it. */
interface Entry {
  u: string;
  t: string;
  h: string;
  x: string;
}

interface Index {
  find: (words: string) => Entry[];
}

/** Search in all pages of this language. The index is loaded when the field gets the focus for the first time. */
export function search(box: HTMLElement): void {
  const field = box.querySelector('input')!;
  const list = box.querySelector('ol')!;
  let loading: Promise<Index> | undefined;
  const load = () =>
    (loading ??= loadIndex(document.body.dataset['search']!).catch((error: unknown) => {
      loading = undefined; // the next focus tries again
      throw error;
    }));
  const update = async () => {
    const words = field.value.trim();
    if (words === '') return showResults(list, []);
    try {
      const index = await load();
      if (field.value.trim() !== words) return; // the reader typed on
      const found = index.find(words);
      if (found.length > 0) showResults(list, found, words);
      else showNote(list, field.dataset['none']!);
    } catch {
      showNote(list, field.dataset['failed']!);
    }
  };
  field.addEventListener('focus', () => void load().catch(() => undefined));
  field.addEventListener('input', () => void update());
  box.addEventListener('keydown', (event) => moveWithKeys(event, field, list));
  box.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && box.contains(relatedTarget))) list.hidden = true;
  });
  field.addEventListener('focus', () => (list.hidden = list.childElementCount === 0));
  addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (event.key !== '/' || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
    event.preventDefault();
    field.focus();
  });
}

async function loadIndex(address: string): Promise<Index> {
  const [{ default: Search }, answer] = await Promise.all([import('minisearch'), fetch(address)]);
  if (!answer.ok) throw new Error(`the search index answered ${answer.status}`);
  const entries = (await answer.json()) as Entry[];
  const words = new Intl.Segmenter(document.documentElement.lang, { granularity: 'word' });
  const index: MiniSearch<Entry & { id: number }> = new Search({
    fields: ['h', 't', 'x'],
    // Chinese has no spaces between words, so these come from the browser's dictionary.
    tokenize: (text) => [...words.segment(text)].filter(({ isWordLike }) => isWordLike).map(({ segment }) => segment),
    searchOptions: {
      boost: { h: 4, t: 2 },
      prefix: true,
      combineWith: 'AND',
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  index.addAll(entries.map((entry, id) => ({ ...entry, id })));
  return {
    find: (text) =>
      index
        .search(text)
        .slice(0, MOST_RESULTS)
        .map(({ id }) => entries[id as number]!),
  };
}

function showResults(list: HTMLElement, found: readonly Entry[], words = ''): void {
  list.replaceChildren(...found.map((entry) => resultItem(entry, words)));
  list.hidden = found.length === 0;
}

function resultItem({ u, t, h, x }: Entry, words: string): HTMLElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = document.body.dataset['root']! + u;
  const title = document.createElement('strong');
  title.textContent = t === h ? t : `${t} › ${h}`;
  const excerpt = document.createElement('span');
  excerpt.textContent = excerptOf(x, words);
  link.append(title, excerpt);
  item.append(link);
  return item;
}

/** The part of a text around the first of the words. */
function excerptOf(text: string, words: string): string {
  const first = words.split(/\s+/)[0]!.toLowerCase();
  const at = Math.max(0, text.toLowerCase().indexOf(first) - 40);
  const part = text.slice(at, at + EXCERPT_LENGTH).replaceAll(/\s+/g, ' ');
  return `${at > 0 ? '…' : ''}${part}${at + EXCERPT_LENGTH < text.length ? '…' : ''}`;
}

function showNote(list: HTMLElement, text: string): void {
  const item = document.createElement('li');
  item.className = 'muted';
  item.setAttribute('role', 'status');
  item.textContent = text;
  list.replaceChildren(item);
  list.hidden = false;
}

function moveWithKeys(event: KeyboardEvent, field: HTMLElement, list: HTMLElement): void {
  const links = [...list.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  if (event.key === 'Escape') {
    list.hidden = true;
    field.focus();
  } else if (event.key === 'Enter' && at === -1) links[0]?.click();
  else if (event.key === 'ArrowDown') (links[at + 1] ?? links[0])?.focus();
  else if (event.key === 'ArrowUp') (links[at - 1] ?? field).focus();
  else return;
  if (event.key !== 'Enter') event.preventDefault();
}

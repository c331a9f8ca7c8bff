import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const CSS = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');
const [LIGHT = '', DARK = ''] = CSS.split('@media (prefers-color-scheme: dark)');

function coloursOf(css: string): Map<string, string> {
  return new Map([...css.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name = '', value = '']) => [name, value]));
}

/** WCAG 2.2, relative luminance. */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [high = 0, low = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

type Pair = [string, string];
const GROUNDS = ['ground', 'surface', 'raised'];
const TONES = ['good', 'fair', 'bad'];
const PAIRS: Pair[] = [
  ...GROUNDS.flatMap((ground) => ['text', 'muted', 'accent', 'bad'].map((text): Pair => [text, ground])),
  ...TONES.map((tone): Pair => [tone, `${tone}-soft`]),
  ...TONES.map((tone): Pair => [tone, 'surface']),
  ['accent', 'accent-soft'],
  ['muted', 'info-soft'],
  ['muted', 'accent-soft'],
  ['on-accent', 'accent'],
  ['on-accent', 'accent-hover'],
];

describe.each([
  ['light', coloursOf(LIGHT)],
  ['dark', coloursOf(DARK)],
])('%s colours', (_scheme, colours) => {
  it.each(PAIRS)('%s can be read on %s', (text, ground) => {
    expect(contrast(colours.get(text)!, colours.get(ground)!)).toBeGreaterThanOrEqual(4.5);
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const CSS = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8');

/** Each colour of the file, as one of its two schemes has it. */
function coloursOf(scheme: 'light' | 'dark'): Map<string, string> {
  const pairs = CSS.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g);
  return new Map([...pairs].map(([, name = '', light = '', dark = '']) => [name, scheme === 'light' ? light : dark]));
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

describe.each(['light', 'dark'] as const)('%s colours', (scheme) => {
  const colours = coloursOf(scheme);
  it.each(PAIRS)('%s can be read on %s', (text, ground) => {
    expect(contrast(colours.get(text)!, colours.get(ground)!)).toBeGreaterThanOrEqual(4.5);
  });
});

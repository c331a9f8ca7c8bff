import { expect, it } from 'vitest';
import { countryInName } from './country-in-name.js';

/** How providers and their users write the places of one country. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  HK: ['香港', 'HK', 'Hong Kong', 'HKG', 'hk', '🇭🇰', '深港'],
  JP: ['日本', 'JP', 'Tokyo', 'NRT', 'jp', '🇯🇵 大阪', 'Osaka'],
  SG: ['新加坡', 'SG', 'Singapore', 'SIN', 'sg', '狮城', '🇸🇬'],
  TW: ['台湾', 'TW', 'Taipei', 'TPE', 'tw', '彰化', 'Taiwan'],
  US: ['美国', 'US', 'Los Angeles', 'LAX', 'us', 'Virginia', '硅谷'],
  KR: ['韩国', 'KR', 'Seoul', 'ICN', 'kr', '首尔', '春川'],
  GB: ['英国', 'UK', 'London', 'LHR', 'uk', 'GB', '伦敦'],
  DE: ['德国', 'DE', 'Frankfurt', 'FRA', 'de', 'Falkenstein', 'Germany'],
  FR: ['法国', 'FR', 'Paris', 'CDG', 'fr', '巴黎', 'Marseille'],
  NL: ['荷兰', 'NL', 'Amsterdam', 'AMS', 'nl', 'Netherlands', 'Holland'],
  RU: ['俄罗斯', 'RU', 'Moscow', 'SVO', 'ru', '伯力', 'Россия'],
  CA: ['加拿大', 'CA', 'Toronto', 'YYZ', 'ca', 'Montreal', 'Vancouver'],
  AU: ['澳大利亚', 'AU', 'Sydney', 'SYD', 'au', '悉尼', 'Melbourne'],
  IN: ['印度', 'Mumbai', 'BOM', '孟买', 'Bangalore', 'India', 'Delhi'],
  TR: ['土耳其', 'TR', 'Istanbul', 'IST', 'tr', 'Turkey', '伊斯坦布尔'],
  VN: ['越南', 'VN', 'Hanoi', 'SGN', 'vn', 'Vietnam', 'Saigon'],
  TH: ['泰国', 'TH', 'Bangkok', 'BKK', 'th', '曼谷', 'Thailand'],
  AE: ['阿联酋', 'AE', 'Dubai', 'DXB', 'ae', '迪拜', 'Abu Dhabi'],
  BR: ['巴西', 'BR', 'Sao Paulo', 'GRU', 'br', '圣保罗', 'Brazil'],
  AR: ['阿根廷', 'AR', 'Buenos Aires', 'EZE', 'ar', 'Argentina', '🇦🇷'],
  CH: ['瑞士', 'CH', 'Zurich', 'ZRH', 'ch', '苏黎世', 'Switzerland'],
  SE: ['瑞典', 'SE', 'Stockholm', 'ARN', 'se', 'Sweden', '🇸🇪'],
};
/** Frames around a place, as subscriptions have them. */
const FRAMES: readonly ((place: string, number: number) => string)[] = [
  (place, n) => `${place} 0${n}`,
  (place, n) => `${place}-${n}`,
  (place, n) => `[SS] ${place} 0${n}`,
  (place, n) => `${place} 0${n} | IEPL`,
  (place, n) => `VIP-${place} ${n}`,
  (place, n) => `Premium|${place}|0${n}|x2`,
  (place, n) => `hy2-${place}${n}`,
  (place, n) => `dmit-${place}-${n}`,
  (place, n) => `SS-2022 ${place} ${n}`,
  (place, n) => `CF ${place} ${n}`,
  (place, n) => `TG@channel ${place} ${n}`,
  (place, n) => `AI-GPT ${place}-0${n}`,
  (place, n) => `${place}_${n}_vless_reality`,
];
const OTHERS: readonly string[] = [
  'SS', 'SS-2022', 'SS 01', 'SSR', 'AI', 'AI-GPT', 'AI 1', 'CF', 'CF优选 1', 'CF-01', 'TG', 'TG@somebody', 'TG 2',
  'My AT&T', 'AT&T 5G', 'BE FAST', 'BE FAST 1', 'LET IT GO', 'DO IT', 'IN USE', 'ALL IN ONE', 'COME BY', 'NO.7', 'no1',
  'TV', 'Apple TV', 'NF解锁', 'NF 4K', 'CM-BGP', 'CU 01', 'CN2 GIA', 'CN2', '50 GB', '100GB 剩余', '20GB', 'LB 01', 'MS Azure',
  'tcp ws tls', 'ws', 'vless-ws-tls', 'my.node.io', 'node.example.me', 'x.to', 'proxy.cc', 'a.b.tv', 'cdn.ai', 'v2.ws',
  '剩余流量：20 GB', '套餐到期：2027-01-01', '官网 example.com', 'Traffic: 5 TB', 'Expire 2027', '节点 1', '自动选择', '故障转移',
  'node 1', 'sin city', 'deep sea', 'the han', 'IPLC', 'BGP', 'IEPL 01', 'VIP', 'ABUSE', 'WARP', 'Netflix', 'torre de control',
  'best PM', '9 AM', 'relay', 'Premium', 'backup-2', 'x2', 'GPT', 'Hysteria2', 'TUIC v5', '0.5x', 'PS5', 'IS-IS', 'WS TLS',
]; // prettier-ignore
const SPECIAL: readonly (readonly [string, string])[] = [
  ['SS JP', 'JP'],
  ['dmit-lax', 'US'],
  ['hy2-hk1', 'HK'],
  ['hk1', 'HK'],
  ['1.jp.example', 'JP'],
  ['us-west-2.compute.example', 'US'],
  ['Virginia', 'US'],
  ['AWS Virginia 2', 'US'],
  ['lax', 'US'],
  ['sin1', 'SG'],
  ['BE-01', 'BE'],
  ['[BE] 2', 'BE'],
  ['BE 3', 'BE'],
  ['IT 01', 'IT'],
  ['MY-02', 'MY'],
  ['in1', 'IN'],
  ['my3', 'MY'],
  ['US CN2 GIA', 'US'],
  ['GB 01', 'GB'],
];

it('finds the country in at least 98 % of 2,000 names, and none where there is none', () => {
  const placed = Object.entries(WRITTEN).flatMap(([country, places]) =>
    places.flatMap((place) => FRAMES.map((frame, index) => [frame(place, (index % 9) + 1), country] as const)),
  );
  const names: (readonly [string, string | null])[] = [
    ...placed,
    ...SPECIAL,
    ...OTHERS.map((name) => [name, null] as const),
  ];
  expect(names.length).toBeGreaterThan(2_000);
  const wrong = names.filter(([name, country]) => countryInName(name) !== country);
  expect(wrong.length / names.length, JSON.stringify(wrong.map(([name]) => [name, countryInName(name)]))).toBeLessThan(
    0.02,
  );
});

it.each([...SPECIAL])('%j is in %s', (name, country) => {
  expect(countryInName(name)).toBe(country);
});

it.each(['SS-2022', 'AI-GPT', 'CF优选 1', 'TG@channel', 'My AT&T', 'BE FAST'])('%j names none', (name) => {
  expect(countryInName(name)).toBeNull();
});

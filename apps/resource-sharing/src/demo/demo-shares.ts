import type { MediaType } from '../titles/titles.js';

export interface DemoShare {
  readonly type: Exclude<MediaType, 'collection'>;
  readonly tmdbId: string;
  readonly titleName: string;
  readonly title: string;
  readonly url: string;
  readonly points: number | null;
}

/** Links of nobody, in the forms of three services. */
export const DEMO_SHARES: readonly DemoShare[] = [
  {
    type: 'movie',
    tmdbId: '19995',
    titleName: 'Demo film',
    title: 'Demo film, free',
    url: 'https://115.com/s/gatehousedemo1?password=d3m0',
    points: null,
  },
  {
    type: 'movie',
    tmdbId: '19995',
    titleName: 'Demo film',
    title: 'Demo film, for points',
    url: 'https://pan.quark.cn/s/0123456789ab?pwd=demo',
    points: 10,
  },
  {
    type: 'tv',
    tmdbId: '1399',
    titleName: 'Demo series',
    title: 'Demo series, first season',
    url: 'https://www.alipan.com/s/GatehouseDemo1',
    points: 25,
  },
];

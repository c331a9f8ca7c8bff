import { describe, expect, it } from 'vitest';
import { parseSubscription } from './parse-subscription.js';

const listOf = (labels: readonly string[]) =>
  labels.map((label, i) => `trojan://p@h${i}.example:443#${encodeURIComponent(label)}`).join('\n');

describe('messages in the form of nodes', () => {
  it.each([
    '剩余流量：12.34 GB',
    '剩余流量 : 500M',
    '💡 剩余流量：0B',
    '剩餘流量: 1,024 GB',
    '套餐到期：2026-12-31',
    '套餐到期：长期有效',
    '到期时间: 2026/01/02 03:04:05',
    '过期时间：2026年1月2日',
    '距离下次重置剩余：14 天',
    '重置剩余：3天',
    '过滤掉 12 条线路',
    '官网：https://example.com',
    'TG群：@example',
    'Traffic: 12.3 GB | 100 GB',
    'Traffic Remaining: 12.3GB',
    'Remaining: 5 GiB',
    'Expire: 2026-12-31',
    'Expires on 2026-12-31',
    'Expiry Date: 31-12-2026',
    'Days left: 12',
    'Reset in 3 days',
    'Bandwidth: 1.5 TB',
    'Осталось: 10 ГБ',
    'Истекает: 31.12.2026',
    'Действует до 2026-12-31',
    'حجم باقی‌مانده: 12 GB',
    'Website: example.com',
  ])('%s', (label) => {
    const result = parseSubscription(listOf([label, 'HK 01']));
    expect(result.infoNodes).toEqual([{ line: 1, name: label }]);
    expect(result.nodes.map((entry) => entry.node.name)).toEqual(['HK 01']);
  });

  it('the figures are read', () => {
    const { info } = parseSubscription(listOf(['剩余流量：1.5 GB', '套餐到期：2026-12-31', 'Total: 100 GB']));
    expect(info).toEqual({
      remainingBytes: 1.5 * 1024 ** 3,
      totalBytes: 100 * 1024 ** 3,
      expireAt: new Date('2026-12-31T00:00:00Z'),
    });
    expect(parseSubscription(listOf(['Traffic: 12.3 GB | 100 GB'])).info).toMatchObject({
      remainingBytes: null,
      totalBytes: 100 * 1024 ** 3,
    });
    expect(parseSubscription(listOf(['到期：2026-13-45'])).info.expireAt).toBeNull();
  });

  it('a less certain message needs an invalid server', () => {
    const label = encodeURIComponent('请更新订阅');
    expect(parseSubscription(`trojan://p@127.0.0.1:1#${label}\ntrojan://p@h.example:1#x`).infoNodes).toHaveLength(1);
    expect(parseSubscription(`trojan://p@h.example:1#${label}`).nodes).toHaveLength(1);
  });

  it('a list of messages only is not an error, but has no nodes', () => {
    expect(parseSubscription(listOf(['剩余流量：1 GB']))).toMatchObject({ nodes: [], infoNodes: [{ line: 1 }] });
  });
});

describe('real nodes are kept', () => {
  it.each([
    '香港 01 | 大流量 10G',
    '大流量专线 100M',
    '流量倍率 0.5',
    '无限流量 美国',
    'Traffic 01',
    'Low Traffic HK 2',
    'Bandwidth 10G Hong Kong',
    'Unlimited US 1',
    'Expired test',
    'London 10',
    'Лондон 10 Гбит',
    'Доминикана 1',
    'US 2026-01-01',
    'Reset Point DE',
    'Total Wireless US 3',
    '日本 不限时 02',
    '到期机房 香港',
    '群岛 开曼 01',
    '官方 香港',
    'Supported: yes',
    'Validator FR 1',
    '1GB SG',
    'Remaining Light JP',
  ])('%s', (label) => {
    const result = parseSubscription(listOf([label]));
    expect(result.infoNodes).toEqual([]);
    expect(result.nodes.map((entry) => entry.node.name)).toEqual([label]);
  });
});

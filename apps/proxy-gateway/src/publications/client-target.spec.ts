import { expect, it } from 'vitest';
import { targetOfClient } from './client-target.js';

it.each([
  ['clash-verge/v2.4.2', 'clash'],
  ['ClashMetaForAndroid/2.11.14.Meta', 'clash'],
  ['mihomo/1.19.13', 'clash'],
  ['Stash/3.1.0 Clash/1.9.0', 'clash'],
  ['FlClash/v0.8.90', 'clash'],
  ['SFA/1.12.12 (Build 538; sing-box 1.12.12; language zh_Hans_CN)', 'sing-box'],
  ['HiddifyNext/2.5.7 (windows) like ClashMeta v2ray sing-box', 'sing-box'],
  ['Surge iOS/3374', 'surge'],
  ['Loon/800 CFNetwork/1498 Darwin/23.6.0', 'loon'],
  ['Quantumult%20X/1.5.2 (iPhone14,2; iOS 17.5)', 'quantumult-x'],
  ['Shadowrocket/2615 CFNetwork/1498', 'base64'],
  ['v2rayN/7.12', 'base64'],
  ['curl/8.9.1', 'base64'],
  [undefined, 'base64'],
])('%s reads %s', (agent, target) => {
  expect(targetOfClient(agent)).toBe(target);
});

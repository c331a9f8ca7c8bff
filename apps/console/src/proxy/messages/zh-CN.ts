import type { Translation } from '@gatehouse/i18n';
import type { en } from './en.js';

export const zhCN: Translation<typeof en> = {
  nav: {
    dashboard: '概览',
    nodes: '节点',
    subscriptions: '订阅',
    groups: '代理组',
    rules: '规则',
    connections: '连接',
    trafficLog: '流量日志',
    runtimeLog: '运行日志',
    settings: '设置',
    system: '系统',
  },
  app: {
    product: '代理网关',
    loginOff: '登录已关闭：能访问此地址的任何人都拥有全部权限。',
    password: '管理员密码',
  },
};

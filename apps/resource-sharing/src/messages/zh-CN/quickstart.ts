import type { Translation } from '@gatehouse/i18n';
import type { quickstart as english } from '../en/quickstart.js';

export const quickstart: Translation<typeof english> = {
  quickstart: {
    title: '快速开始',
    send: '将用户引导到以下地址。该地址现在即可使用：打开后看到的授权页与用户看到的一致。',
    pkce: '该地址与下方代码配套使用（PKCE）。正式的应用应为每位用户生成新的 state 和 verifier。',
    back: '用户授权后返回 <code>{address}</code>，参数 code 几分钟内有效，且只能使用一次。',
    call: '用 code 换取令牌并完成第一次调用。请先设置环境变量 CODE 和 CLIENT_SECRET，无需安装任何依赖。',
    callPublic:
      '用 code 换取令牌并完成第一次调用。请先设置环境变量 CODE。令牌本身即可标识应用，无需密钥，也无需安装任何依赖。',
    client:
      '后续开发可使用 <link>TypeScript 和 Python 客户端</link>，其中已实现登录、刷新令牌、重试和翻页；另有 <postman>Postman 集合</postman>。',
  },
};

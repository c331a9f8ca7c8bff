import type { ShadowsocksNode } from '@gatehouse/contracts';
import { EMBEDDED, external, unsupported, type NodeProtocol, type NodeSupport } from '../node-protocol.js';
import { isCipher2022, parseKeys2022 } from '../shadowsocks-2022/cipher.js';
import { isEmbeddedCipher } from './cipher.js';
import { ShadowsocksOutbound } from './outbound.js';
import { pluginObstacle } from './plugin.js';

/** Ciphers that mihomo supports and this kernel does not. */
const EXTERNAL_CIPHERS =
  /^(none|plain|dummy|rc4-md5|(x?chacha20)(-ietf)?(-poly1305)?|aes-(128|192|256)-(ctr|cfb|ccm|gcm-siv|gcm)|2022-blake3-.+|.*aegis-.+|lea-.+)$/;

export const shadowsocks: NodeProtocol<ShadowsocksNode> = {
  support,
  create: ({ tag, node, dialer }) => new ShadowsocksOutbound(tag, node, dialer),
};

function support({ plugin, cipher, password }: ShadowsocksNode): NodeSupport {
  const obstacle = plugin ? pluginObstacle(plugin) : null;
  if (obstacle !== null) return external(obstacle);
  if (isEmbeddedCipher(cipher)) return EMBEDDED;
  if (isCipher2022(cipher)) {
    if (parseKeys2022(cipher, password)) return EMBEDDED;
    return unsupported('the password is not base64 of a key of the cipher’s length (several: joined by colons)');
  }
  if (EXTERNAL_CIPHERS.test(cipher)) return external(`cipher ${cipher}`);
  return unsupported(`cipher ${cipher} is not known`);
}

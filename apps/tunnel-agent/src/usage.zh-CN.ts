export const CHINESE_USAGE = `gatehouse-agent 通过 Gatehouse 隧道网关公开内网服务。

  gatehouse-agent --server gw.example.org:8024 --key-file agent.key
  gatehouse-agent --config agent.yaml

  gatehouse-agent http 3000                 公开本机的网站
  gatehouse-agent tcp 22                    公开本机的端口，或端口范围：tcp 6000-6010
  gatehouse-agent share ./folder            公开一个目录（只读）
  gatehouse-agent up                        公开 gatehouse.yaml 中列出的内容

以上四个命令持续公开，直到按下 Ctrl-C，并打印地址及其二维码。选项：

  --gateway https://HOST  网关控制台的地址；也可使用 GATEHOUSE_GATEWAY；默认为本机已登录的网关
  --api-key-file FILE     保存 API 密钥的文件，密钥需要 write 权限；密钥本身也可放在 GATEHOUSE_API_KEY；
                          默认使用已登录的密钥，在终端中会先请您登录
  --name NAME             http：网站的名称；默认随机
  --port PORT             tcp、share：网关的端口（范围的第一个）；默认任意空闲端口
  --config FILE           up：其他文件（gatehouse.yaml）：gateway, api_key, api_key_file, log, proxy, publish
  --log text|json, --proxy URL
                          同下

  gatehouse-agent login https://HOST        登录本机：在网关控制台输入代码并确认
  gatehouse-agent logout [https://HOST]     吊销并删除登录的密钥

以上两个命令可使用 --proxy。密钥保存在当前用户的 ~/.config/gatehouse-agent/gateways 中。

不带命令时，公开哪些服务在网关上配置；允许公开什么由本机决定：

  --server HOST:PORT      网关的客户端端口（省略端口时为 8024）
  --server wss://HOST     使用单个 WebSocket，适合只允许 HTTPS 出站的网络
                          （不在 443 端口时写作 wss://HOST:PORT/PATH）
  --transport auto|raw|websocket
                          auto：连接 HOST:PORT，无法连接时改用 wss://HOST（默认 auto）
  --proxy URL             通过此代理连接网关：http://、https:// 或 socks5://[USER:PASSWORD@]HOST:PORT，或 none；
                          默认由 HTTPS_PROXY、HTTP_PROXY、ALL_PROXY 和 NO_PROXY 决定
  --key KEY               客户端密钥；建议放在 GATEHOUSE_AGENT_KEY 或文件中，避免被他人看到
  --key-file FILE         保存密钥的文件
  --allow TARGET          只允许访问这些目标：127.0.0.1:8080、*.corp.example:80,443、10.0.0.0/8（可重复）
  --deny TARGET           禁止访问的目标，优先于允许（可重复）
  --allow-file-root DIR   file 模式的隧道可以提供的目录及其子目录（可重复）
  --config FILE           YAML 或 JSON：server, transport, proxy, key, key_file, allow, deny, allow_file_roots, log,
                          grace_seconds, p2p, require_encryption, replica
  --log text|json         输出格式（输出不是终端时为 json）
  --grace-seconds N       收到 SIGTERM 后现有连接可继续的秒数（30）
  --no-p2p                p2p 模式隧道的访客始终经过网关，不直连
  --require-encryption    仅当网关为此客户端加密数据通道时提供服务；默认由网关决定
  --replica               与其他副本共同为此客户端提供服务；默认仅由最新的代理提供服务
  --version, --help

  gatehouse-agent visit --server gw.example.org:8024 --key-file tunnel.key --listen 127.0.0.1:3306

在本机打开一个端口，通往 secret 或 p2p 模式的隧道，使用创建隧道时的密钥（GATEHOUSE_VISITOR_KEY、--key-file 或 --key）；
p2p 模式在网络允许时直连客户端，否则或使用 --no-p2p 时经过网关。--server、--transport、--proxy、--log 和
--config（server, transport, proxy, key, key_file, listen, log, p2p）同上。

  gatehouse-agent status [--json]

显示本机上当前用户正在运行的客户端程序：网关、连接方式、隧道和主机及其地址、流量、最近错误。

  gatehouse-agent service install [--user] [--name NAME] [--run-as ACCOUNT] [--dry-run] OPTIONS
  gatehouse-agent service uninstall|status [--user] [--name NAME]

由系统启动客户端程序（systemd；launchd 和 Windows 尚未试用）：作为系统服务，或用 --user 作为用户服务。OPTIONS 与客户端选项相同，
保存在他人无法读取的文件中。--dry-run 只打印将要写入的内容。

环境变量：GATEHOUSE_AGENT_SERVER、GATEHOUSE_AGENT_KEY、GATEHOUSE_AGENT_CONFIG。命令行优先于环境变量，环境变量优先于文件。
代理例外：文件中的 proxy 优先于 HTTPS_PROXY 等变量。

未设置 --allow 时，除链路本地地址和云平台保存主机凭据的地址（如 168.63.129.16）外，都可以访问。
退出码：0 按要求停止，2 用法错误，3 密钥被拒绝，4 不是密钥对应的网关，5 被另一个客户端取代，6 版本不兼容，
7 未能公开或登录：网关拒绝或没有响应；status：8 有客户端程序未连接，9 没有正在运行的客户端程序。
`;

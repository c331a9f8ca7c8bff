export const USAGE = `gatehouse-agent makes private services reachable through a Gatehouse tunnel gateway.

  gatehouse-agent --server gw.example.org:8024 --key-file agent.key
  gatehouse-agent --config agent.yaml

  gatehouse-agent http 3000                 publish a site of this machine
  gatehouse-agent tcp 22                    publish a port of this machine, or several: tcp 6000-6010
  gatehouse-agent share ./folder            publish a folder, for reading
  gatehouse-agent up                        publish what gatehouse.yaml lists

These four publish until Ctrl-C, and print the address with its QR code. They take:

  --gateway https://HOST  the address of the gateway's console; also GATEHOUSE_GATEWAY, or where this machine is logged in
  --api-key-file FILE     file that holds an API key with the scope write; the key itself in GATEHOUSE_API_KEY; otherwise
                          the login, which a terminal is offered
  --name NAME             http: the site's name; otherwise a random one
  --port PORT             tcp, share: the port at the gateway, of several the first; otherwise any free one
  --config FILE           up: another file (gatehouse.yaml): gateway, api_key, api_key_file, log, proxy, publish
  --log text|json, --proxy URL
                          as below

  gatehouse-agent login https://HOST        log this machine in, with a code that is entered in the gateway's console
  gatehouse-agent logout [https://HOST]     revoke and delete the key of the login

Both take --proxy. The key is in a file of this user, ~/.config/gatehouse-agent/gateways.

Without a command, what is exposed is set up at the gateway; what may be exposed is up to this machine:

  --server HOST:PORT      the gateway's port for agents (port 8024 where none is said)
  --server wss://HOST     over one WebSocket, for networks that let only HTTPS out (wss://HOST:PORT/PATH where it is
                          elsewhere than at port 443)
  --transport auto|raw|websocket
                          auto: connections to HOST:PORT, over wss://HOST where those do not come about (auto)
  --proxy URL             reach the gateway through this proxy: http://, https:// or socks5://[USER:PASSWORD@]HOST:PORT, or
                          none; otherwise HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY decide
  --key KEY               the client's key; better in GATEHOUSE_AGENT_KEY or a file, where others do not see it
  --key-file FILE         file that holds the key
  --allow TARGET          may be reached, and nothing else: 127.0.0.1:8080, *.corp.example:80,443, 10.0.0.0/8 (repeat)
  --deny TARGET           may not be reached, whatever is allowed (repeat)
  --allow-file-root DIR   directory that tunnels of mode file may serve, with what is below it (repeat)
  --config FILE           YAML or JSON: server, transport, proxy, key, key_file, allow, deny, allow_file_roots, log,
                          grace_seconds, p2p, require_encryption, replica
  --log text|json         what is printed (json where the output is no terminal)
  --grace-seconds N       how long running connections may go on after SIGTERM (30)
  --no-p2p                visitors of tunnels of mode p2p come through the gateway, never directly
  --require-encryption    serve only while the gateway has data channels encrypted for this client; by itself it decides
  --replica               serve the client together with its other replicas; otherwise the newest agent serves it alone
  --version, --help

  gatehouse-agent visit --server gw.example.org:8024 --key-file tunnel.key --listen 127.0.0.1:3306

opens a port of this machine that leads to a tunnel of mode secret or p2p, with the key that the tunnel was made with
(GATEHOUSE_VISITOR_KEY, --key-file or --key); of mode p2p directly to the agent where the networks let it, and through the
gateway otherwise or with --no-p2p. --server, --transport, --proxy, --log and --config (server, transport, proxy, key,
key_file, listen, log, p2p) are as above.

  gatehouse-agent status [--json]

prints the agents of this user that run on this machine: gateway, way, tunnels and hosts with addresses, traffic, last error.

  gatehouse-agent service install [--user] [--name NAME] [--run-as ACCOUNT] [--dry-run] OPTIONS
  gatehouse-agent service uninstall|status [--user] [--name NAME]

has the system start the agent (systemd; launchd and Windows untried): of the machine, or with --user of this user. OPTIONS are those
of the agent; they are kept in files that others cannot read. --dry-run prints what would be written.

Environment: GATEHOUSE_AGENT_SERVER, GATEHOUSE_AGENT_KEY, GATEHOUSE_AGENT_CONFIG. The command line wins over the
environment, the environment over the file. The proxy is an exception: proxy of the file wins over HTTPS_PROXY and the like.

Without --allow everything may be reached but link-local addresses and other ones where clouds keep their machines'
credentials (168.63.129.16 and the like).
Exit: 0 asked to stop, 2 wrong usage, 3 key refused, 4 not the key's gateway, 5 replaced by another agent, 6 other version,
7 nothing was published, or no login: the gateway refused it or did not answer; status: 8 an agent is not connected, 9 no agent runs.
`;

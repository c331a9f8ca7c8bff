/** Where agents and visitors reach the gateway. */
export interface TunnelGatewayView {
  /** `host:port` to which agents connect, as in their commands. */
  agent_address: string;
  /**
   * Port for visitors of hosts; null: the data plane does not answer.
   * @asType integer
   */
  http_port: number | null;
  /**
   * The port that visitors use, which something else may map to ours.
   * @asType integer
   */
  https_port: number | null;
  /** Whether certificates are ordered for hosts with `auto_https`: the terms of the authority were accepted. */
  automatic_https: boolean;
  /** Users may take free names directly below it; null: the operator has set none. */
  publish_domain: string | null;
  version: string;
}

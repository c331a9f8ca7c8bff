/** Where agents and visitors reach the gateway. */
export interface TunnelGatewayView {
  /** `host:port` for agents, as their commands say it. */
  agent_address: string;
  /**
   * Where visitors of hosts come in; null: the data plane does not say.
   * @asType integer
   */
  http_port: number | null;
  /**
   * As visitors know it.
   * @asType integer
   */
  https_port: number | null;
  /** Certificates are ordered for hosts with `auto_https`: the terms of the authority were accepted. */
  automatic_https: boolean;
  version: string;
}

/** Notified, within the transaction that changes it, by whatever a kernel configuration is made of. */
export const KERNEL_CONFIG_CHANNEL = 'proxy_gateway_config';

/** Payload of a notice that says: nothing but what people chose inside groups. */
export const ONLY_SELECTIONS = 'selections';

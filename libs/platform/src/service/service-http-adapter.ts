import { ExpressAdapter } from '@nestjs/platform-express';

type Handler = Parameters<ExpressAdapter['setNotFoundHandler']>[0];

/** Express with one not-found handler at the root, so that an address outside the global prefix gets our error body too. */
export class ServiceHttpAdapter extends ExpressAdapter {
  override setNotFoundHandler(handler: Handler): unknown {
    return this.use(handler);
  }
}

import { Requires } from '@gatehouse/auth';
import { Answers, Fails } from '@gatehouse/platform';
import type { KernelListResponse, KernelView } from '@gatehouse/contracts';
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { KernelsService } from './kernels.service.js';

@Controller('kernels')
export class KernelsController {
  constructor(private readonly kernels: KernelsService) {}

  @Get()
  @Answers('KernelListResponse', 'The kernels that carry traffic')
  @Requires('read')
  list(): Promise<KernelListResponse> {
    return this.kernels.list();
  }

  @Post(':id/drain')
  @Answers('KernelView', 'Makes a kernel accept no more connections')
  @Fails('NOT_FOUND', 'CONFLICT', 'UNPROCESSABLE', 'KERNEL_UNAVAILABLE')
  @HttpCode(200)
  @Requires('write')
  drain(@Param('id') id: string): Promise<KernelView> {
    return this.kernels.drain(id, true);
  }

  @Post(':id/serve')
  @Answers('KernelView', 'Makes a kernel accept connections again')
  @Fails('NOT_FOUND', 'CONFLICT', 'UNPROCESSABLE', 'KERNEL_UNAVAILABLE')
  @HttpCode(200)
  @Requires('write')
  serve(@Param('id') id: string): Promise<KernelView> {
    return this.kernels.drain(id, false);
  }
}

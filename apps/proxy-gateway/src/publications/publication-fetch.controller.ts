import { Public } from '@gatehouse/auth';
import { AnswersFile, clientAddress } from '@gatehouse/platform';
import { Controller, Get, Param, Query, Req, Res, StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { targetOfClient } from './client-target.js';
import { FetchQuery } from './publication.dto.js';
import { PublicationFetch, type FetchedPublication } from './publication-fetch.service.js';

/** The address that clients subscribe to. The token in it is the only credential. */
@Controller('sub')
export class PublicationFetchController {
  constructor(private readonly publications: PublicationFetch) {}

  @Get(':token')
  @AnswersFile(['text/yaml', 'application/json', 'text/plain'], 'The document of a publication')
  @Public()
  async fetch(
    @Param('token') token: string,
    @Query() { target, only }: FetchQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile | undefined> {
    const found = await this.publications.fetch({
      token,
      target: target ?? targetOfClient(request.headers['user-agent']),
      onlyNodes: only === 'nodes',
      ip: clientAddress(request).ip,
      url: `${request.protocol}://${request.get('host') ?? 'localhost'}${request.originalUrl}`,
    });
    response.setHeader('ETag', found.etag);
    response.setHeader('Cache-Control', 'private, no-cache');
    response.setHeader('Vary', 'User-Agent');
    response.setHeader('profile-update-interval', String(Math.max(1, Math.round(found.updateIntervalSec / 3_600))));
    response.setHeader('profile-title', `base64:${Buffer.from(found.name).toString('base64')}`);
    if (found.userinfo !== undefined) response.setHeader('Subscription-Userinfo', found.userinfo);
    if (isKnown(request.headers['if-none-match'], found.etag)) {
      response.status(304);
      return undefined;
    }
    return new StreamableFile(found.body, { type: found.contentType, disposition: disposition(found) });
  }
}

/** Proxies that compress an answer make its tag a weak one. */
function isKnown(header: string | undefined, etag: string): boolean {
  return (header ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** Clients call the profile like the file. Names in other scripts have the form of RFC 6266. */
function disposition({ name, extension }: FetchedPublication): string {
  const file = `${name}.${extension}`;
  const plain = file.replaceAll(/[^\w .()-]+/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(file).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`)}`;
}

// go-oidc signs a user in: one request a line on standard input as JSON, one answer a line out.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const limit = 20 * time.Second

type setup struct {
	Issuer string `json:"issuer"`
	Client struct {
		ID     string `json:"id"`
		Secret string `json:"secret"`
	} `json:"client"`
	RedirectURI string   `json:"redirectUri"`
	Scopes      []string `json:"scopes"`
}

type party struct {
	provider *oidc.Provider
	config   oauth2.Config
	verifier string
	nonce    string
	state    string
}

type answer struct {
	Result any    `json:"result,omitempty"`
	Failed string `json:"failed,omitempty"`
}

func newParty(ctx context.Context, given setup) (*party, error) {
	provider, err := oidc.NewProvider(ctx, given.Issuer)
	if err != nil {
		return nil, err
	}
	config := oauth2.Config{
		ClientID:     given.Client.ID,
		ClientSecret: given.Client.Secret,
		Endpoint:     provider.Endpoint(),
		RedirectURL:  given.RedirectURI,
		Scopes:       given.Scopes,
	}
	return &party{provider, config, oauth2.GenerateVerifier(), oauth2.GenerateVerifier(), oauth2.GenerateVerifier()}, nil
}

func (p *party) authorizationURL() string {
	return p.config.AuthCodeURL(p.state, oidc.Nonce(p.nonce), oauth2.S256ChallengeOption(p.verifier))
}

func (p *party) signIn(ctx context.Context, callback string) (any, error) {
	address, err := url.Parse(callback)
	if err != nil {
		return nil, err
	}
	query := address.Query()
	if query.Get("state") != p.state {
		return nil, errors.New("state is not ours")
	}
	tokens, err := p.config.Exchange(ctx, query.Get("code"), oauth2.VerifierOption(p.verifier))
	if err != nil {
		return nil, err
	}
	raw, ok := tokens.Extra("id_token").(string)
	if !ok {
		return nil, errors.New("there is no id_token")
	}
	idToken, err := p.provider.Verifier(&oidc.Config{ClientID: p.config.ClientID}).Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if idToken.Nonce != p.nonce {
		return nil, errors.New("nonce is not ours")
	}
	if err := idToken.VerifyAccessToken(tokens.AccessToken); err != nil {
		return nil, err
	}
	var claims, about map[string]any
	if err := idToken.Claims(&claims); err != nil {
		return nil, err
	}
	info, err := p.provider.UserInfo(ctx, oauth2.StaticTokenSource(tokens))
	if err != nil {
		return nil, err
	}
	if err := info.Claims(&about); err != nil {
		return nil, err
	}
	return map[string]any{"claims": claims, "userInfo": about}, nil
}

func (p *party) answer(line []byte) answer {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var asked []string
	if err := json.Unmarshal(line, &asked); err != nil || len(asked) == 0 {
		return answer{Failed: "the request is not a list of texts"}
	}
	if asked[0] == "authorization_url" {
		return answer{Result: p.authorizationURL()}
	}
	if asked[0] == "sign_in" && len(asked) == 2 {
		result, err := p.signIn(ctx, asked[1])
		if err != nil {
			return answer{Failed: err.Error()}
		}
		return answer{Result: result}
	}
	return answer{Failed: "unknown request " + asked[0]}
}

func run() error {
	var given setup
	if err := json.Unmarshal([]byte(os.Args[1]), &given); err != nil {
		return err
	}
	p, err := newParty(context.Background(), given)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		if err := out.Encode(p.answer(lines.Bytes())); err != nil {
			return err
		}
	}
	return lines.Err()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// grpc-go serves one gRPC service, or calls it in every way that the tests compare, and prints what a caller sees.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const (
	limit          = 30 * time.Second
	fail           = "/test.Calls/Fail"
	wait           = "/test.Calls/Wait"
	ended          = "/test.Calls/Ended"
	metadataMethod = "/test.Calls/Metadata"
	missing        = "/test.Calls/Missing"
	wideSize       = 12 * 1024
)

// text is the codec: messages are plain strings, so no generated code is needed.
type text struct{}

func (text) Name() string                  { return "text" }
func (text) Marshal(v any) ([]byte, error) { return []byte(*v.(*string)), nil }
func (text) Unmarshal(data []byte, v any) error {
	*v.(*string) = string(data)
	return nil
}

// waiting counts the calls that wait for their end.
var waiting atomic.Int64

func main() {
	encoding.RegisterCodec(text{})
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		serve()
		return
	}
	if len(os.Args) >= 3 && os.Args[1] == "call" {
		call(os.Args[2], os.Args[3:])
		return
	}
	fmt.Fprintln(os.Stderr, "usage: grpc-go serve | grpc-go call HOST:PORT [CERTIFICATE-FILE NAME]")
	os.Exit(2)
}

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	server := grpc.NewServer(grpc.UnknownServiceHandler(handle))
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	check(server.Serve(listener))
}

func handle(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	var message string
	if err := stream.RecvMsg(&message); err != nil {
		return err
	}
	switch method {
	case fail:
		return failAs(stream, message)
	case wait:
		waiting.Add(1)
		defer waiting.Add(-1)
		<-stream.Context().Done()
		return stream.Context().Err()
	case ended:
		answer := strconv.FormatInt(waiting.Load(), 10)
		return stream.SendMsg(&answer)
	case metadataMethod:
		return mirror(stream)
	}
	return status.Errorf(codes.Unimplemented, "unknown method %s", method)
}

// failAs takes "CODE MESSAGES": a status after so many messages. Before the first one, it is Trailers-Only.
func failAs(stream grpc.ServerStream, message string) error {
	var code, messages int
	if _, err := fmt.Sscanf(message, "%d %d", &code, &messages); err != nil {
		return err
	}
	stream.SetTrailer(metadata.Pairs("why", "because", "why-bin", "\x00\x01\xff"))
	for range messages {
		answer := "a message"
		if err := stream.SendMsg(&answer); err != nil {
			return err
		}
	}
	return status.Error(codes.Code(code), "says “no”, 100 %")
}

func mirror(stream grpc.ServerStream) error {
	received, _ := metadata.FromIncomingContext(stream.Context())
	if err := stream.SendHeader(metadata.Pairs("head", first(received, "wide"), "head-bin", first(received, "raw-bin"))); err != nil {
		return err
	}
	stream.SetTrailer(metadata.Pairs("tail", first(received, "wide"), "tail", "a second one"))
	answer := "done"
	return stream.SendMsg(&answer)
}

func first(md metadata.MD, name string) string {
	if values := md.Get(name); len(values) > 0 {
		return values[0]
	}
	return ""
}

// outcome is what a caller sees of one call.
type outcome struct {
	Name     string   `json:"name"`
	Code     string   `json:"code"`
	Message  string   `json:"message"`
	Received int      `json:"received"`
	Header   []string `json:"header"`
	Trailer  []string `json:"trailer"`
}

func call(address string, secure []string) {
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.CallContentSubtype("text")),
	}
	if len(secure) == 2 {
		file, err := os.ReadFile(secure[0])
		check(err)
		options = append(options, grpc.WithTransportCredentials(pinned(file, secure[1])), grpc.WithAuthority(secure[1]))
	}
	connection, err := grpc.NewClient(address, options...)
	check(err)
	defer connection.Close()
	var all []outcome
	for code := range 17 {
		for messages := range 3 {
			name := fmt.Sprintf("%v after %d messages", codes.Code(code), messages)
			request := fmt.Sprintf("%d %d", code, messages)
			all = append(all, try(connection, context.Background(), name, fail, request))
		}
	}
	all = append(all, try(connection, context.Background(), "a missing method", missing, ""))
	short, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	all = append(all, try(connection, short, "a deadline", wait, ""))
	cancel()
	all = append(all, cancelled(connection))
	wide := metadata.Pairs("wide", strings.Repeat("w", wideSize), "raw-bin", "\x00\x01\xff")
	all = append(all, try(connection, metadata.NewOutgoingContext(context.Background(), wide), "metadata", metadataMethod, ""))
	all = append(all, left(connection))
	check(json.NewEncoder(os.Stdout).Encode(all))
}

// pinned trusts one certificate, whatever it says.
func pinned(file []byte, name string) credentials.TransportCredentials {
	block, _ := pem.Decode(file)
	return credentials.NewTLS(&tls.Config{
		ServerName:         name,
		InsecureSkipVerify: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if !bytes.Equal(state.PeerCertificates[0].Raw, block.Bytes) {
				return errors.New("not the pinned certificate")
			}
			return nil
		},
	})
}

func try(connection *grpc.ClientConn, ctx context.Context, name, method, request string) outcome {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result := outcome{Name: name}
	stream, err := connection.NewStream(limited, &grpc.StreamDesc{ServerStreams: true}, method)
	if err == nil {
		err = stream.SendMsg(&request)
	}
	if err == nil {
		err = stream.CloseSend()
	}
	if err == nil {
		var answer string
		for err == nil {
			if err = stream.RecvMsg(&answer); err == nil {
				result.Received++
			}
		}
		header, _ := stream.Header()
		result.Header = sizes(header, "head", "head-bin")
		result.Trailer = sizes(stream.Trailer(), "why", "why-bin", "tail")
	}
	if err == io.EOF {
		err = nil
	}
	result.Code = status.Code(err).String()
	// A deadline may be noticed by either side, which word it in their own ways.
	if result.Code != codes.DeadlineExceeded.String() || strings.HasPrefix(name, "DeadlineExceeded") {
		result.Message = status.Convert(err).Message()
	}
	return result
}

// cancelled leaves a call once the service has it.
func cancelled(connection *grpc.ClientConn) outcome {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan outcome, 1)
	go func() { done <- try(connection, ctx, "a cancelled call", wait, "") }()
	until(connection, "1")
	cancel()
	return <-done
}

// left says whether the service noticed that its callers are gone.
func left(connection *grpc.ClientConn) outcome {
	return outcome{Name: "calls that still wait", Message: until(connection, "0")}
}

// until asks how many calls wait, until it is this many or the limit has passed.
func until(connection *grpc.ClientConn, wanted string) string {
	request, answer := "", ""
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if err := connection.Invoke(context.Background(), ended, &request, &answer); err != nil {
			return err.Error()
		}
		if answer == wanted {
			return answer
		}
	}
	return answer
}

func sizes(md metadata.MD, names ...string) []string {
	found := []string{}
	for _, name := range names {
		for _, value := range md.Get(name) {
			if len(value) > 100 {
				value = fmt.Sprintf("%d bytes", len(value))
			}
			found = append(found, fmt.Sprintf("%s: %q", name, value))
		}
	}
	return found
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
